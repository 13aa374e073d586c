import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mailEnv, startSmtp } from '../../parts/mail/test/support/smtp.ts';
import { upsertMembers } from '../../src/features/directory/directory.ts';
import { startWorker } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { sized, type Part, type PartContext } from '../harness/part.ts';
import { atLeast, type PartReport } from '../harness/report.ts';
import { now, once, untilDone } from '../harness/statistics.ts';
import { ratingInput } from '../world/actions.ts';
import { informPlanner, openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_mails';
/** As many as a call and an action take. */
const AT_ONCE = 1_000;
const HOUR_MS = 3_600_000;

/** How many mails one process sends to a server that takes them at once. */
export const mailsPart: Part = { name: 'mails', run };

async function run({ environment, options }: PartContext): Promise<PartReport> {
  const count = sized(options, { full: 10_000, short: 2_000, smoke: 100 });
  await using smtp = await startSmtp();
  const config = join(environment.folder, 'mails.config.mjs');
  await writeFile(
    config,
    "export default { notifications: [{ kind: 'MENTION', channel: 'EMAIL', isOn: true }] };\n",
  );
  const env = { ...mailEnv(smtp.port), FANFARE_CONFIG: config };
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  for (let from = 0; from < count; from += AT_ONCE) {
    const ids = Array.from(
      { length: Math.min(AT_ONCE, count - from) },
      (_, n) => `mailed-${String(from + n)}`,
    );
    const members = ids.map((id) => ({ memberId: id, name: `Name of ${id}`, email: `${id}@people.example` }));
    await upsertMembers(fanfare.app.core, fanfare.service, members);
    await fanfare.publish(ratingInput(from, [], { mentions: ids }));
  }
  await informPlanner(world);
  const since = now();
  await using worker = await startWorker({ environment, database: DATABASE, env });
  await untilDone('Mails', 50, () => Promise.resolve(count - smtp.kept.length));
  const ms = now() - since;
  const cpu = (await worker.call('cpu', null)) / 1_000 / count;
  const receivers = new Set(smtp.attempts);
  if (receivers.size !== count || smtp.kept.length !== count)
    throw new Error(`${String(smtp.kept.length)} mails to ${String(receivers.size)} members`);
  const figure = (name: string, unit: string, value: number) => ({ name, unit, summary: once(value, name) });
  return {
    title: 'Mails',
    about: [
      `${String(count)} members are mentioned, by actions that wait when one worker starts. It delivers them, finds what is to be mailed, and sends each a mail of its own. The SMTP server takes mails at once; it is in the process of the benchmark. From the start of the worker to the last mail.`,
    ],
    figures: [
      atLeast(10_000, 'an hour', figure('mails of one process', 'an hour', (count / ms) * HOUR_MS)),
      figure('CPU of the worker for a mail, its delivery included', 'ms', cpu),
    ],
    raw: { count, ms, cpu },
  };
}
