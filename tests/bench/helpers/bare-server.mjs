import Database from 'better-sqlite3';
import express from 'express';
import Handlebars from 'handlebars';
import knex from 'knex';

/** What a start is compared with: a program that loads the same packages and listens. */
const packages = [Database, Handlebars, knex];
const server = express().listen(0, () => {
  const { port } = server.address();
  process.stdout.write(`Ready on http://127.0.0.1:${port} with ${packages.length} packages\n`);
});
process.on('SIGTERM', () => process.exit(0));
