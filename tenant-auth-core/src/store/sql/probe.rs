//! The probe row, by which readiness learns whether the database takes writes. Its content has no meaning.

pub(in crate::store) const WRITE: &str = "
    INSERT INTO tenant_auth_probe AS p (id, trials) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET trials = p.trials + 1";
