import { fileURLToPath } from 'node:url';
import { Collection, type Document } from 'mongodb';
import { afterEach } from 'vitest';
import { SHARD_RULES } from '../../parts/sharding/src/rules.ts';
import { watchCommandLog } from './command-log.ts';
import { commandOfCall, commandsOfBulk, METHODS } from './driver-calls.ts';
import type { RecordedCommand } from './commands.ts';
import { reachOf, unionsOf, type Reach } from './sharding.ts';
import { reasonsOf } from './scattered.ts';
import { shardFaults, takeShardFaults } from './shard-faults.ts';
import { noteReasons } from './used-reasons.ts';

/**
 * Set up for every test that reaches a database: looks at all commands that the sources ask the driver for, in the process of
 * the test, and fails the test in which one would not be taken by a sharded database, or goes to every shard for no reason that
 * anybody has given. What a test itself asks for does not count.
 */
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** The server and its parts; the local engine has a driver for itself. */
const SOURCES = /^(?:src|parts\/[^/]+\/src)\//;
const WATCHED = Symbol.for('fanfare.watched');

function judge(command: RecordedCommand, from: string): void {
  for (const part of partsOf(command)) {
    const reach = tryReachOf(part, from);
    if (reach.kind === 'targeted') continue;
    const reasons = reach.kind === 'scattered' ? reasonsOf(part, from.replace(/^src\//, '')) : [];
    noteReasons(reasons);
    if (reasons.length > 0) continue;
    shardFaults().add(`${reach.kind}: ${part.name} ${part.collection}, from ${from}. ${explain(reach)}`);
  }
}

/** Each write and each united read of a command for itself: one that has a reason does not speak for the others. */
function partsOf(command: RecordedCommand): RecordedCommand[] {
  for (const writes of ['updates', 'deletes']) {
    const all: unknown = command.command[writes];
    if (Array.isArray(all))
      return all.map((write: unknown) => ({
        ...command,
        command: { ...command.command, [writes]: [write] },
      }));
  }
  const pipeline: unknown = command.command['pipeline'];
  if (!Array.isArray(pipeline)) return [command];
  const stages = pipeline as readonly Document[];
  const own = stages.filter((stage) => !('$unionWith' in stage));
  return [
    { ...command, command: { ...command.command, pipeline: own } },
    ...unionsOf(stages).flatMap(partsOf),
  ];
}

/** A collection on which nobody has decided is a fault of the test, not of the call. */
function tryReachOf(command: RecordedCommand, from: string): Reach {
  try {
    return reachOf(command);
  } catch (error) {
    shardFaults().add(`${String(error)}, from ${from}`);
    return { kind: 'targeted' };
  }
}

function explain(reach: Reach): string {
  if (reach.kind !== 'forbidden')
    return 'Name the shard key, or give the reason in test/support/scattered.ts.';
  const { says, source } = SHARD_RULES[reach.rule];
  return `${says} ${source}`;
}

/** The place in the sources that calls the driver; null: somebody else does. */
function callerInSources(): string | null {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    // Two frames are looked at: to collect more costs several times as much, for every command.
    Error.stackTraceLimit = 2;
    Error.prepareStackTrace = (_error, sites) => sites;
    const here: { stack?: readonly NodeJS.CallSite[] } = {};
    Error.captureStackTrace(here, callerInSources);
    // The first is the method that stands in for that of the driver.
    const site = here.stack?.[1];
    const file = site?.getFileName()?.replace('file://', '') ?? '';
    if (!file.startsWith(PROJECT)) return null;
    const path = file.slice(PROJECT.length);
    return SOURCES.test(path) ? `${path}:${String(site?.getLineNumber() ?? 0)}` : null;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function watch(): void {
  const methods = Collection.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const method of METHODS) {
    const original = methods[method];
    if (original === undefined) throw new Error(`The driver has no method ${method}`);
    methods[method] = function (this: Collection, ...args: unknown[]) {
      const from = callerInSources();
      // What the router knows of itself is in a database of its own.
      if (from !== null && this.dbName !== 'config') {
        const commands =
          method === 'bulkWrite'
            ? commandsOfBulk(this.collectionName, args)
            : [commandOfCall(this.collectionName, method, args)];
        for (const command of commands) if (command !== null) judge(command, from);
      }
      return original.apply(this, args);
    };
  }
}

const scope = globalThis as unknown as Record<symbol, unknown>;
// Set up again for each file, in one process.
if (scope[WATCHED] === undefined) {
  watch();
  scope[WATCHED] = true;
}

watchCommandLog();

afterEach(() => {
  const found = takeShardFaults();
  if (found.length > 0) throw new Error(`On a sharded database:\n${found.join('\n')}`);
});
