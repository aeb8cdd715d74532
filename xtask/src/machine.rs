//! What machine this is, as far as figures depend on it.

use std::{env, fmt, fs, thread};

/// What the figures of a page depend on.
pub(crate) struct Machine {
    cores: usize,
    model: String,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cores: thread::available_parallelism().map_or(1, usize::from),
            model: cpu_model(&cpuinfo)
                .unwrap_or("unknown processor")
                .to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cores, {}, {}",
            self.cores,
            self.model,
            env::consts::OS
        )
    }
}

fn cpu_model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_where_the_kernel_does() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: X 1\n"),
            Some("X 1")
        );
        assert_eq!(cpu_model("processor\t: 0\n"), None);
    }
}
