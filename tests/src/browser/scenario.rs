//! A scenario of the browser suite: one sentence about what a person does, and the function that does it or panics.

use std::pin::Pin;

use super::Stage;

/// What a scenario does.
pub type Run = for<'a> fn(&'a Stage) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One scenario.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// `topic::sentence`
    pub name: &'static str,
    /// The path of the service's public URL; empty when it lies at the root.
    pub below: &'static str,
    /// Whether it is about what axe-core finds, and ignored without it.
    pub needs_axe: bool,
    /// The function.
    pub run: Run,
}

impl Scenario {
    /// Made by [`visits!`](crate::visits); `path` is the function's full path, of which the topic and the name remain.
    pub fn new(path: &'static str, below: &'static str, run: Run) -> Self {
        let name = path.rsplit_once("browser::browser::").map_or(path, |(_, name)| name);
        Self { name, below, needs_axe: false, run }
    }

    /// The same, ignored where axe-core is not installed.
    pub fn with_axe(self) -> Self {
        Self { needs_axe: true, ..self }
    }
}

/// The table of contents of a topic: each line is the name of an `async fn(&Stage)` of the module, and one scenario. `below "/auth":`
/// gives the service a public URL with a path of its own; what stands after `with axe:` needs axe-core.
#[macro_export]
macro_rules! visits {
    (@ $below:literal $name:ident) => {
        $crate::browser::Scenario::new(concat!(module_path!(), "::", stringify!($name)), $below, |stage| Box::pin($name(stage)))
    };
    ($($name:ident),* $(,)? $(; below $path:literal: $($moved:ident),* $(,)?)? $(; with axe: $($checked:ident),* $(,)?)?) => {
        pub(crate) fn scenarios() -> Vec<$crate::browser::Scenario> {
            vec![
                $($crate::visits!(@ "" $name),)*
                $($($crate::visits!(@ $path $moved),)*)?
                $($($crate::visits!(@ "" $checked).with_axe(),)*)?
            ]
        }
    };
}
