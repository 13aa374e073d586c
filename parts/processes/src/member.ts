import cluster from 'node:cluster';
import type { Config } from '../../../src/config/config.ts';
import { Closer } from '../../../src/lib/closer.ts';
import type { CommandContext, CommandParts } from '../../../src/app/command-shapes.ts';
import { fanfareOf, startTraced } from '../../../src/cli/fanfare-of.ts';
import { demoTokenOf, loggerOf, pagesOf } from '../../../src/cli/runtime.ts';
import { closeOnSignals } from '../../../src/cli/shutdown.ts';
import {
  GROUP_ANSWERS_WITHIN_MS,
  MEMBER_VARIABLE,
  type OfGroup,
  type OfMember,
  type Started,
} from './group.ts';
import { openLine, type Port } from './line.ts';

/** Whether this process was started by one that runs the same command several times. */
export function isMember({ env }: CommandContext): boolean {
  return cluster.isWorker && env[MEMBER_VARIABLE] !== undefined;
}

/**
 * Runs one process of a group until the first process, or an operator, sends SIGTERM. Ctrl-C in a terminal reaches all of
 * them, and only the first one reacts to it.
 */
export async function runMember(
  context: CommandContext,
  config: Config,
  { people, ...parts }: CommandParts,
): Promise<void> {
  const logger = loggerOf(context, config.log.level).child({ process: Number(context.env[MEMBER_VARIABLE]) });
  const port = process as unknown as Port;
  const closer = new Closer();
  const pages = pagesOf(config, parts.api ? await demoTokenOf(config) : null, people);
  const fanfare = await fanfareOf(context, config, {
    ...{ ...parts, logger, pages, metrics: false },
    group: { readiness: () => group.ask('readiness'), metrics: () => group.ask('metrics') },
  });
  const opening = startTraced(fanfare, parts, closer);
  const answers = {
    alive: () => Promise.resolve(true as const),
    readiness: async () => (await opening.then(() => fanfare.server())).app.readiness(),
    snapshot: () => fanfare.metrics.snapshot(),
  };
  const group = openLine<OfMember, OfGroup>(port, answers, GROUP_ANSWERS_WITHIN_MS);
  closeOnSignals(
    logger,
    async () => {
      // The caller receives the error.
      await opening.catch(() => undefined);
      await closer.close();
    },
    { ignored: ['SIGINT', 'SIGHUP'] },
  );
  try {
    await opening;
    const started: Started = { startedAt: fanfare.url };
    port.send(started, () => undefined);
  } catch (error) {
    await closer.close();
    throw error;
  } finally {
    // It stays alive by its servers and workers: if it could not start, it ends after saying why.
    process.channel?.unref();
  }
}
