//! The names of what cannot be said, as its client has written them, each once and in the order in which they are met, but for names of
//! tools that keep a request from being sent: those come first, so that no bound hides them.

use crate::canonical::{Feature, Inexpressible, Lost, NAMED_MAX, Places, Request, Target};
use crate::{Dialect, ProviderDialect, member_path, tool_names};

/// The names of what cannot be said, each once, as the client has written them.
pub(super) struct Names<'b> {
    body: &'b [u8],
    pub(super) list: Vec<Inexpressible>,
}

impl<'b> Names<'b> {
    pub(super) fn new(body: &'b [u8], read: Vec<Inexpressible>) -> Self {
        let list = Vec::with_capacity(read.len());
        let mut names = Self { body, list };
        for inexpressible in read {
            names.add([inexpressible.field]);
        }
        names
    }

    /// Adds all of these places.
    pub(super) fn add_each(&mut self, places: Vec<String>) {
        for place in places {
            self.add([place]);
        }
    }

    /// Adds the names of tools that `target` does not take: first where the request cannot be sent with them.
    pub(super) fn add_tool_names(
        &mut self,
        from: Dialect,
        to: ProviderDialect,
        request: &Request,
        places: &Places,
        target: &Target,
    ) {
        let Some(rule) = tool_names::Rule::of(to, target) else {
            return;
        };
        let feature = Feature::ToolNames;
        let lost = rule.broken_by(request).into_iter();
        let lost = lost.map(|spot| Lost { feature, spot });
        let paths = lost.map(|lost| from.paths_of(lost, places));
        if target.tool_name_max.is_none() {
            paths.for_each(|paths| self.add(paths));
            return;
        }
        let named = paths.take(NAMED_MAX).map(|paths| self.found(paths));
        let mut list: Vec<_> = named.map(|name| name.unless(&rule.words())).collect();
        list.append(&mut self.list);
        list.truncate(NAMED_MAX);
        self.list = list;
    }

    /// Adds the first of these paths that is in the body, else as much of one as is.
    pub(super) fn add(&mut self, paths: impl IntoIterator<Item = String>) {
        if self.list.len() >= NAMED_MAX {
            return; // Looking up a path reads the body as far as it.
        }
        let name = self.found(paths);
        if !self.list.contains(&name) {
            self.list.push(name);
        }
    }

    fn found(&self, paths: impl IntoIterator<Item = String>) -> Inexpressible {
        let mut most = String::new();
        for path in paths {
            let found = member_path::found(self.body, &path);
            let is_whole = found.is_whole;
            if is_whole || found.path.len() > most.len() {
                most = found.path;
            }
            if is_whole {
                break;
            }
            if most.is_empty() {
                most = path;
            }
        }
        Inexpressible::new(most)
    }
}
