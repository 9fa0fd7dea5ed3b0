//! A result as a picture for previews of links: what it says ([`words`]), where it stands ([`layout`], [`panels`]), and how
//! it becomes SVG ([`pen`]) and PNG ([`picture`]), in a font of our own ([`typeface`]).

mod layout;
mod panels;
mod pen;
mod picture;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod typeface;
mod words;

pub(crate) use layout::SIZE;
pub(crate) use picture::Cards;
pub(crate) use words::Card;
