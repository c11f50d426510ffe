-- Run once by a superuser on a Postgres that is not Runyard's own (15 or newer):
--   psql --set ON_ERROR_STOP=1 --file bootstrap.sql && psql --command '\password runyard_owner'
-- Afterwards Runyard needs no superuser: this owner makes the services' roles, schemas and tables. Services log in as roles
-- that own nothing; DATABASE_OWNER_URL is for the migrating step alone.

CREATE ROLE runyard_owner LOGIN CREATEROLE NOSUPERUSER NOCREATEDB NOBYPASSRLS;
CREATE DATABASE runyard OWNER runyard_owner TEMPLATE template0 ENCODING 'UTF8';
