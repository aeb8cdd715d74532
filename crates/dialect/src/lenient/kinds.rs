//! What visits what stands where an object, a list or any of several kinds should, and shows the visitor of a wire type what comes nearest.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Lenient;

/// Where something may stand or nothing.
pub(super) struct Maybe<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Maybe<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Lenient(inner))
    }
}

/// Where several kinds may stand, and none of them is a number or a flag: these are objects of which nobody knows a member.
pub(super) struct Anything<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Anything<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.0.visit_str(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Lenient(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Lenient(members))
    }
}

/// Where a list should stand: a null is an empty one, an object its one element.
pub(super) struct List<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for List<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        let none = std::iter::empty::<u8>();
        self.0.visit_seq(SeqDeserializer::new(none))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Lenient(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Lenient(Alone(Some(members))))
    }
}

/// The elements of a list that is one object.
struct Alone<A>(Option<A>);

impl<'de, A: MapAccess<'de>> SeqAccess<'de> for Alone<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let members = self.0.take().map(MapAccessDeserializer::new);
        members.map(|members| seed.deserialize(members)).transpose()
    }
}

/// Where an object should stand: a list is its first element, and all else has no members.
pub(super) struct Object<V>(pub(super) V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<V::Value, E> {
        self.0.visit_map(no_members())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<V::Value, A::Error> {
        let mut visitor = Some(self.0);
        let first = elements.next_element_seed(First(&mut visitor))?;
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        match visitor {
            Some(visitor) => visitor.visit_map(no_members()),
            None => first.ok_or_else(|| A::Error::custom("an element that was read and is none")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Lenient(members))
    }
}

/// Takes the visitor, where there is an element to visit.
struct First<'v, V>(&'v mut Option<V>);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for First<'_, V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        let visitor = self.0.take();
        let visitor = visitor.ok_or_else(|| D::Error::custom("an element that is read twice"))?;
        Lenient(from).deserialize_map(visitor)
    }
}

/// An object without members.
fn no_members<'de, E: Error>() -> impl MapAccess<'de, Error = E> {
    MapDeserializer::new(std::iter::empty::<(u8, u8)>())
}
