//! A scenario: one sentence about behaviour, and the function that makes it true or panics.

use std::pin::Pin;

use crate::{App, Cell, cell::Adapter};

/// What a scenario does with its app.
pub type Run = for<'a> fn(&'a App) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Where a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// On each adapter over each database.
    Every,
    /// On each database once: what is judged has nothing to do with the adapter, or brings the other one up itself.
    EachDatabase,
}

/// One scenario, not yet multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// `topic::sentence`
    pub name: &'static str,
    /// Where it runs.
    pub cells: Cells,
    /// The function.
    pub run: Run,
}

impl Scenario {
    /// Made by [`scenarios!`](crate::scenarios); `path` is the function's full path, of which the topic and the name remain.
    pub fn new(path: &'static str, cells: Cells, run: Run) -> Self {
        let name = path.split_once("suite::").map_or(path, |(_, name)| name);
        Self { name, cells, run }
    }

    /// Whether it runs there.
    pub fn runs_on(&self, cell: Cell) -> bool {
        match self.cells {
            Cells::Every => true,
            Cells::EachDatabase => cell.adapter == Adapter::Axum,
        }
    }
}

/// The table of contents of a suite: each line is the name of an `async fn(&App)` of the module, and one scenario. A function that
/// was not listed is dead code, and the compiler says so.
#[macro_export]
macro_rules! scenarios {
    (on each database: $($name:ident),* $(,)?) => { $crate::scenarios!(@ EachDatabase $($name)*); };
    (@ $cells:ident $($name:ident)*) => {
        pub(crate) fn scenarios() -> Vec<$crate::Scenario> {
            vec![$($crate::Scenario::new(
                concat!(module_path!(), "::", stringify!($name)),
                $crate::Cells::$cells,
                |app| Box::pin($name(app)),
            )),*]
        }
    };
    ($($name:ident),* $(,)?) => { $crate::scenarios!(@ Every $($name)*); };
}
