//! Who goes next when there is not enough: lanes, tenants, slots and small ones that pass, by the provider's own counting.

mod figures;
mod floor;
mod interactive;
pub(crate) mod kept;
mod large;
mod slots;
mod tenants;
