import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MongoClient, type CommandStartedEvent, type Document } from 'mongodb';
import { afterAll, expect } from 'vitest';

/**
 * The command log: which commands the story and cost tests send to the database, by collection and by the shape of what they
 * ask for, without values. A change of the code that leaves the log equal asks the database for nothing new.
 *
 * A usual run fails where a test sends a command that is not in the log. `npm run commands` writes the log again, which also
 * drops what is no longer sent.
 */
const LOG = fileURLToPath(new URL('../command-log.txt', import.meta.url));
const LOGGED = /\/test\/(alone\/tenant-costs|e2e\/story(-changes)?|integration\/costs\/[^/]+)\.test\.ts$/;
const IS_WRITTEN = process.env['FANFARE_COMMAND_LOG'] === 'write';

/** What the driver does for itself. */
const OF_DRIVER =
  /^(hello|ping|saslStart|saslContinue|endSessions|getMore|killCursors|explain|listCollections)$/;
/** Made and dropped by the tests around what they test. */
const OF_TESTS = /^(create|createIndexes|drop|dropDatabase|listIndexes|buildInfo)$/;
/** How the tests empty a database for the next one. */
const EMPTIES =
  /^delete \w+ deletes \[\{q: \{\}|^aggregate \w+ pipeline \[\{\$limit: \?\}, \{\$project: \{_id: \?, name:/;

const WATCHED = Symbol.for('fanfare.command-log');
const scope = globalThis as unknown as Record<symbol, Set<string> | undefined>;

/** Whether the commands of this test file are in the log. */
export const isLogged = (): boolean => LOGGED.test(expect.getState().testPath ?? '');

/** To be called by a file that is set up before each test file. */
export function watchCommandLog(): void {
  if (!isLogged()) return;
  const sent = (scope[WATCHED] ??= watchClients());
  sent.clear();
  afterAll(() => {
    if (IS_WRITTEN) {
      appendFileSync(LOG, [...sent].map((line) => `${line}\n`).join(''));
      return;
    }
    const known = new Set(readFileSync(LOG, 'utf8').split('\n'));
    const unknown = [...sent].filter((line) => !known.has(line));
    expect(unknown, 'commands that are not in test/command-log.txt').toEqual([]);
  });
}

interface WithOptions {
  readonly s: { readonly options: { monitorCommands: boolean } };
}

/** Every client that connects in a file of the log tells what it sends, which takes much time for every command. */
function watchClients(): Set<string> {
  const sent = new Set<string>();
  const watched = new WeakSet<MongoClient>();
  const { connect } = MongoClient.prototype;
  MongoClient.prototype.connect = function (this: MongoClient & WithOptions) {
    if (isLogged() && !watched.has(this)) {
      watched.add(this);
      this.s.options.monitorCommands = true;
      this.on('commandStarted', (event) => {
        const line = lineOf(event);
        if (line !== null) sent.add(line);
      });
    }
    return connect.call(this);
  };
  return sent;
}

/** How the log names a command; `null`: it is not of the log. */
export function lineOf({
  commandName,
  command,
}: Pick<CommandStartedEvent, 'commandName' | 'command'>): string | null {
  if (OF_DRIVER.test(commandName) || OF_TESTS.test(commandName)) return null;
  const { filter, query, q, pipeline, sort, projection, update, updates, deletes, limit } = command as Record<
    string,
    unknown
  >;
  const asked = {
    ...{ filter: filter ?? query ?? q, sort, limit, projection, pipeline, updates, deletes },
    // Of findAndModify; of an update it is the name of the collection.
    ...(commandName === 'findAndModify' ? { update } : {}),
  };
  const shown = Object.entries(asked).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${name === 'sort' ? orderOf(value) : shapeOf(value)}`],
  );
  const line = [commandName, String(command[commandName]), ...shown].join(' ');
  return EMPTIES.test(line) ? null : line;
}

/** The driver keeps the order of keys in a map. */
function orderOf(sort: unknown): string {
  const entries: readonly [string, unknown][] =
    sort instanceof Map ? [...sort] : Object.entries(sort as object);
  return `{${entries.map(([name, direction]) => `${name}: ${String(direction)}`).join(', ')}}`;
}

/** Keys and operators without values: `{_id: {$in: [?]}}`. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${withoutRepeats(value.map(shapeOf)).join(', ') || '?'}]`;
  if (typeof value === 'string' && value.startsWith('$')) return withoutNumbers(value);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return '?';
  const entries = Object.entries(value as Document).filter(([, each]) => each !== undefined);
  const shapes = entries.map(
    ([name, each]) => `${withoutNumbers(name)}: ${name === '$sort' ? orderOf(each) : shapeOf(each)}`,
  );
  return `{${withoutRepeats(shapes).join(', ')}}`;
}

/** Buckets and generations are numbered. */
function withoutNumbers(name: string): string {
  return name.replace(/\d+/g, '#');
}

/** Lists of like elements differ in length from run to run. */
function withoutRepeats(shapes: readonly string[]): readonly string[] {
  return shapes.filter((shape, n) => shape !== shapes[n - 1]);
}
