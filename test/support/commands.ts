import type { CommandStartedEvent, Document } from 'mongodb';
import type { Database } from '../../src/storage/mongo.ts';

export interface RecordedCommand {
  readonly name: string;
  readonly collection: string;
  /** Without what belongs to the driver's session. */
  readonly command: Document;
}

/** The commands the driver sends while the work runs, in order. The database must be opened with `monitorCommands`. */
export async function commandsOf(
  database: Database,
  work: () => Promise<unknown>,
): Promise<RecordedCommand[]> {
  const recorded: RecordedCommand[] = [];
  const record = (event: CommandStartedEvent): void => {
    const { lsid: _lsid, $db: _db, $clusterTime: _time, txnNumber: _txn, ...command } = event.command;
    recorded.push({ name: event.commandName, collection: String(command[event.commandName]), command });
  };
  database.db.client.on('commandStarted', record);
  try {
    await work();
  } finally {
    database.db.client.off('commandStarted', record);
  }
  return recorded;
}

/** Leaves out what a worker of the same process sends when it looks for work, as it does after it has done some. */
export function withoutLooksForWork(commands: readonly RecordedCommand[]): RecordedCommand[] {
  return commands.filter(
    ({ command }) => !JSON.stringify(command['filter'] ?? command['query'] ?? {}).includes('"fanOut.state"'),
  );
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
