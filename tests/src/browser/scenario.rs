//! A scenario of the browser suite: one sentence about what somebody does, and the function that does it or panics.

use std::pin::Pin;

use super::Stage;

/// What a scenario does.
pub type Run = for<'a> fn(&'a Stage) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One scenario, run on each adapter.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// `topic::sentence`
    pub name: &'static str,
    /// The function.
    pub run: Run,
}

impl Scenario {
    /// Made by [`visits!`](crate::visits); `path` is the function's full path, of which the topic and the name remain.
    pub fn new(path: &'static str, run: Run) -> Self {
        let name = path.rsplit_once("browser::browser::").map_or(path, |(_, name)| name);
        Self { name, run }
    }
}

/// The table of contents of a topic: each line is the name of an `async fn(&Stage)` of the module, and one scenario.
#[macro_export]
macro_rules! visits {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn scenarios() -> Vec<$crate::browser::Scenario> {
            vec![$($crate::browser::Scenario::new(concat!(module_path!(), "::", stringify!($name)), |stage| Box::pin($name(stage)))),*]
        }
    };
}
