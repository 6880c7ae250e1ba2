//! A scenario: one sentence about behaviour, and the function that makes it true or panics.

use std::pin::Pin;

use crate::{
    App, Cell,
    cell::{Adapter, Engine},
};

/// What a scenario does with its app.
pub type Run = for<'a> fn(&'a App) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Where a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
    /// On each adapter and on each database.
    Every,
    /// On each database once: what is judged has nothing to do with the adapter, or brings the other one up itself.
    EachDatabase,
}

/// One scenario, not yet multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The full path of the function.
    path: &'static str,
    /// Where it runs.
    pub cells: Cells,
    /// The function.
    pub run: Run,
}

// The linker collects them, so a file of scenarios is registered by its `mod` line and nothing else.
inventory::collect!(Scenario);

impl Scenario {
    /// Made by [`scenarios!`](crate::scenarios); `path` is the full path of the function.
    pub const fn new(path: &'static str, cells: Cells, run: Run) -> Self {
        Self { path, cells, run }
    }

    /// All of the test program, in the order of their names.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = inventory::iter::<Self>.into_iter().copied().collect();
        all.sort_by_key(Self::name);
        all
    }

    /// `topic::sentence`, as `auth::login::a_wrong_password_is_401`.
    pub fn name(&self) -> &'static str {
        self.path.split_once("suite::").map_or(self.path, |(_, name)| name)
    }

    /// Whether it runs there.
    pub fn runs_on(&self, cell: Cell) -> bool {
        match self.cells {
            Cells::Every => true,
            Cells::EachDatabase => cell.adapter == Adapter::Axum,
        }
    }

    /// Whether a run of all scenarios has it there: on each adapter and on each database once, always on the same two cells, and half of
    /// the scenarios on either pair. No adapter knows of a database, nor the other way round.
    pub fn usually_runs_on(&self, cell: Cell) -> bool {
        let sum: u32 = self.name().bytes().map(u32::from).sum();
        let is_first_pair = (cell.adapter == Adapter::Axum) == (cell.engine == Engine::Sqlite);
        self.runs_on(cell) && (self.cells == Cells::EachDatabase || is_first_pair == sum.is_multiple_of(2))
    }
}

/// The table of contents of a file: each line is the name of an `async fn(&App)` of the module, and one scenario. A function that
/// was not listed is dead code, and the compiler says so. `on each database:` at the top tells that the adapter does not matter.
#[macro_export]
macro_rules! scenarios {
    (on each database: $($name:ident),* $(,)?) => { $crate::scenarios!(@ EachDatabase $($name)*); };
    (@ $cells:ident $($name:ident)*) => {
        $($crate::inventory::submit! {
            $crate::Scenario::new(
                concat!(module_path!(), "::", stringify!($name)),
                $crate::Cells::$cells,
                |app| Box::pin($name(app)),
            )
        })*
    };
    ($($name:ident),* $(,)?) => { $crate::scenarios!(@ Every $($name)*); };
}
