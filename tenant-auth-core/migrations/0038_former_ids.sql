-- Whose former id an id is, for the import that asks whether it is somebody's here.
CREATE INDEX tenant_auth_linked_people_by_former ON tenant_auth_linked_people (former_id);
