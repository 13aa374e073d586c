import cluster from 'node:cluster';
import { createApp, type App, type AppParts } from '../../app/app.ts';
import type { Config } from '../../config/config.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import type { CommandContext } from '../context.ts';
import { demoPeopleOf, demoTokenOf, loggerOf, openTraced } from '../runtime.ts';
import { closeOnSignals } from '../shutdown.ts';
import {
  GROUP_ANSWERS_WITHIN_MS,
  MEMBER_VARIABLE,
  type OfGroup,
  type OfMember,
  type Started,
} from './group.ts';
import { openLine, type Port } from './line.ts';

/** Whether this process was started by one that runs the same command several times. */
export function isMember({ env }: Pick<CommandContext, 'env'>): boolean {
  return cluster.isWorker && env[MEMBER_VARIABLE] !== undefined;
}

/**
 * Runs one process of a group until the one that started it, or an operator, sends SIGTERM. Ctrl-C in a terminal goes
 * to all of them, and only the first one knows what is to be done.
 */
export async function runMember(context: CommandContext, config: Config, parts: AppParts): Promise<void> {
  const logger = loggerOf(context, config.log.level).child({ process: Number(context.env[MEMBER_VARIABLE]) });
  const metrics = createMetrics();
  const port = process as unknown as Port;
  const opening: Promise<App> = demoTokenOf(config).then((token) =>
    openTraced(parts, () =>
      createApp(
        config,
        { ...parts, metrics: false },
        {
          ...{ logger, metrics, pageToken: token ?? undefined, demoPeople: demoPeopleOf(config) },
          group: { readiness: () => group.ask('readiness'), metrics: () => group.ask('metrics') },
        },
      ),
    ),
  );
  const answers = { readiness: async () => (await opening).readiness(), snapshot: () => metrics.snapshot() };
  const group = openLine<OfMember, OfGroup>(port, answers, GROUP_ANSWERS_WITHIN_MS);
  closeOnSignals(
    logger,
    async () => {
      // The caller gets the reason when it could not be opened.
      const app = await opening.catch(() => null);
      await app?.close();
    },
    { ignored: ['SIGINT', 'SIGHUP'] },
  );
  try {
    const { url } = await opening;
    const started: Started = { startedAt: url };
    port.send(started, () => undefined);
  } finally {
    // It lives by its servers and workers: one that could not start ends when it has said why.
    process.channel?.unref();
  }
}
