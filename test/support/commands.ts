import { turn } from '../../src/lib/turn.ts';
import type { CommandStartedEvent, Document } from 'mongodb';
import type { Database } from '../../src/storage/database/mongo.ts';

export interface RecordedCommand {
  readonly name: string;
  readonly collection: string;
  /** Without what belongs to the driver's session. */
  readonly command: Document;
}

/** By the clock each process says there that it runs. */
const PRESENCE = 'processes';

/**
 * The commands the driver sends while the work runs, in order, but for those by which the process says that it runs. The
 * database must be opened with `monitorCommands`.
 */
export async function commandsOf(
  database: Database,
  work: () => Promise<unknown>,
): Promise<RecordedCommand[]> {
  const recorded: RecordedCommand[] = [];
  const record = (event: CommandStartedEvent): void => {
    const { lsid: _lsid, $db: _db, $clusterTime: _time, txnNumber: _txn, ...command } = event.command;
    const collection = String(command[event.commandName]);
    if (collection !== PRESENCE) recorded.push({ name: event.commandName, collection, command });
  };
  database.db.client.on('commandStarted', record);
  // What is asked for together is not left to the speed of the machine: all of it is done in one turn.
  turn.isOver = () => false;
  try {
    await work();
  } finally {
    Reflect.deleteProperty(turn, 'isOver');
    database.db.client.off('commandStarted', record);
  }
  return recorded;
}

const OF_PULLED_REFS = JSON.stringify({ isPulled: { $exists: true } });

/** Leaves out the read of which refs are pulled: the first request that comes along after some seconds makes it. */
export function withoutClockReads(commands: readonly RecordedCommand[]): RecordedCommand[] {
  return commands.filter(({ command }) => JSON.stringify(command['filter']) !== OF_PULLED_REFS);
}

/** Of commands that differ in their values alone the first: a planner that has an index for it has it for all of them. */
export function oneOfEach(commands: readonly RecordedCommand[]): RecordedCommand[] {
  const keyed = commands.map((each) => {
    const shape = JSON.stringify(shapeOf(each.command));
    return [`${each.name} ${each.collection} ${shape}`, each] as const;
  });
  return [...new Map(keyed.toReversed()).values()].reverse();
}

/** With the names of types instead of values, and of the elements of an array one of each kind. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].sort();
  if (typeof value !== 'object' || value === null) return typeof value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value.constructor.name;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

export interface PlannedStage {
  readonly stage: string;
  readonly indexName: string | null;
}

/** The stages of the plan for one command, outermost first, with the index where a stage uses one. */
export async function stagesOf(database: Database, { command }: RecordedCommand): Promise<PlannedStage[]> {
  return plannedStages(await database.db.command({ explain: command, verbosity: 'queryPlanner' }));
}

/** How many documents the engine reads for a command. */
export async function documentsRead(database: Database, { command }: RecordedCommand): Promise<number> {
  return examinedDocuments(await database.db.command({ explain: command, verbosity: 'executionStats' }));
}

/**
 * What any server says of a command has plans in several places (manual, reference/explain-results): one for a command that is nothing
 * but a query, one for each part of a pipeline that reads, and for each shard its own.
 */
export function plannedStages(explained: Document): PlannedStage[] {
  return fieldsOf(explained, 'winningPlan').flatMap((plan) => walk(plan as Document));
}

export function examinedDocuments(explained: Document): number {
  return fieldsOf(explained, 'executionStats')
    .map((stats) => Number((stats as Document)['totalDocsExamined']))
    .reduce((all, some) => all + some, 0);
}

/** What was asked, and plans that were not chosen. */
const ASIDE = new Set(['command', 'parsedQuery', 'rejectedPlans']);

/** The fields of a name, at any depth but not inside of each other. */
function fieldsOf(value: unknown, wanted: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === wanted ? [each as unknown] : ASIDE.has(name) ? [] : fieldsOf(each, wanted),
  );
}

/** The engine by slots describes its plan twice, once in stages of the classic one. */
function walk(plan: Document): PlannedStage[] {
  const stage = (plan['queryPlan'] as Document | undefined) ?? plan;
  const name = String(stage['stage']);
  const below = [
    ...(stage['inputStage'] === undefined ? [] : [stage['inputStage'] as Document]),
    ...((stage['inputStages'] as Document[] | undefined) ?? []),
    ...((stage['shards'] as Document[] | undefined) ?? []).map((shard) => shard['winningPlan'] as Document),
  ];
  const indexName = (stage['indexName'] as string | undefined) ?? (name === 'IDHACK' ? '_id_' : null);
  return [{ stage: name, indexName }, ...below.flatMap(walk)];
}
