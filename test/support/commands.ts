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
  try {
    await work();
  } finally {
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

/** The stages of the plan for one command, outermost first, with the index where a stage uses one. */
export async function stagesOf(
  database: Database,
  { command }: RecordedCommand,
): Promise<{ readonly stage: string; readonly indexName: string | null }[]> {
  const explained = await database.db.command({ explain: command, verbosity: 'queryPlanner' });
  const planner: unknown = explained['queryPlanner'];
  const plan = (planner as Document)['winningPlan'] as Document;
  return walk((plan['queryPlan'] as Document | undefined) ?? plan);
}

/** How many documents the engine reads for a command. */
export async function documentsRead(database: Database, { command }: RecordedCommand): Promise<unknown> {
  const explained = await database.db.command({ explain: command, verbosity: 'executionStats' });
  return (explained['executionStats'] as Document | undefined)?.['totalDocsExamined'];
}

function walk(stage: Document): { readonly stage: string; readonly indexName: string | null }[] {
  const below = [
    ...(stage['inputStage'] === undefined ? [] : [stage['inputStage'] as Document]),
    ...((stage['inputStages'] as Document[] | undefined) ?? []),
  ];
  return [
    { stage: String(stage['stage']), indexName: (stage['indexName'] as string | undefined) ?? null },
    ...below.flatMap(walk),
  ];
}
