import { Closer } from '../../../src/lib/closer.ts';
import { startFanfare, type FanfareProcess } from '../../support/processes.ts';

type Kind = 'api' | 'worker';

interface Slot {
  process: FanfareProcess;
  /** Null for workers. */
  url: string | null;
  isUp: boolean;
  readonly worker: string | undefined;
  readonly since: number;
}

interface Killed {
  readonly pid: number;
  /** As which it claimed work; undefined for an API. */
  readonly worker: string | undefined;
}

/** The processes of an installation, each started again when it has ended. */
export interface Fleet extends AsyncDisposable {
  /** Of an API that is up, or of one that was. */
  apiUrl(): string;
  /** Kills one (SIGKILL), which is then started again. Null where none of the kind is up. */
  kill(kind: Kind, pick: (count: number) => number): Killed | null;
  /** Stops one where it is (SIGSTOP) until the result is called. Null where none of the kind is up. */
  pause(kind: Kind, pick: (count: number) => number): (() => void) | null;
  /** Resolves when all are up. */
  isWhole(): Promise<void>;
  /** What any of them has logged as an error so far, and how processes ended that were not killed. */
  complaints(): readonly Complaint[];
}

/** What one of the processes did that a supervisor would see. */
export interface Complaint {
  readonly kind: 'ended' | 'did not start' | 'logged';
  readonly text: string;
  /** When it was started, and when it complained. */
  readonly from: number;
  readonly at: number;
}

const SEVERE = new Set(['error', 'fatal']);
/** Characters of what a process said last. */
const SHOWN = 1_500;

export async function startFleet(
  env: Readonly<Record<string, string>>,
  counts: Readonly<Record<Kind, number>>,
): Promise<Fleet> {
  const closer = new Closer();
  const slots: Record<Kind, Slot[]> = { api: [], worker: [] };
  const complaints: Complaint[] = [];
  const replacements = new Set<Promise<void>>();
  let isOver = false;
  let turn = 0;

  const start = async (kind: Kind): Promise<Slot> => {
    const since = Date.now();
    const process = startFanfare(kind === 'api' ? ['serve', '--no-worker'] : ['worker'], {
      ...env,
      PORT: '0',
    });
    closer.own(process);
    const line = await process.logged((entry) =>
      kind === 'api' ? typeof entry['url'] === 'string' : entry['msg'] === 'Fan-out worker started',
    );
    return kind === 'api'
      ? { process, url: String(line['url']), worker: undefined, isUp: true, since }
      : { process, url: null, worker: String(line['worker']), isUp: true, since };
  };
  const errorsOf = (kind: Kind, { process: { log }, since: from }: Slot): Complaint[] =>
    log
      .filter(({ level }) => SEVERE.has(String(level)))
      .map((line) => ({
        ...{ kind: 'logged', from, at: Date.parse(String(line['time'])) },
        text: `${kind}: ${JSON.stringify(line)}`,
      }));
  /** What cannot start while a service is away is started until it can, as a supervisor does. */
  const startAgain = async (kind: Kind, slot: Slot): Promise<void> => {
    while (!isOver) {
      const from = Date.now();
      try {
        Object.assign(slot, await start(kind));
        watch(kind, slot);
        return;
      } catch (error) {
        const text = `${kind} did not start: ${String(error).slice(-SHOWN)}`;
        complaints.push({ kind: 'did not start', text, from, at: Date.now() });
      }
    }
  };
  const watch = (kind: Kind, slot: Slot): void => {
    const replacing: Promise<void> = slot.process
      .exited()
      .then(async (code) => {
        slot.isUp = false;
        if (isOver) return;
        complaints.push(...errorsOf(kind, slot));
        if (code !== null) {
          const last = slot.process.log.slice(-3).map((line) => JSON.stringify(line));
          const text = `${kind} ended with ${String(code)} and was not killed: ${last.join(' ').slice(-SHOWN)}`;
          complaints.push({ kind: 'ended', text, from: slot.since, at: Date.now() });
        }
        replacements.add(replacing);
        await startAgain(kind, slot);
      })
      .finally(() => replacements.delete(replacing));
  };
  const pickUp = (kind: Kind, pick: (count: number) => number): Slot | null => {
    const up = slots[kind].filter(({ isUp }) => isUp);
    return up.length === 0 ? null : (up[pick(up.length)] ?? null);
  };

  for (const kind of ['api', 'worker'] as const)
    for (let n = 0; n < counts[kind]; n += 1) {
      const slot = await start(kind);
      slots[kind].push(slot);
      watch(kind, slot);
    }
  return {
    complaints: () => [
      ...complaints,
      ...slots.api.flatMap((slot) => errorsOf('api', slot)),
      ...slots.worker.flatMap((slot) => errorsOf('worker', slot)),
    ],
    apiUrl() {
      turn += 1;
      const up = slots.api.filter(({ isUp }) => isUp);
      const among = up.length === 0 ? slots.api : up;
      return among[turn % among.length]?.url ?? '';
    },
    kill(kind, pick) {
      const slot = pickUp(kind, pick);
      if (slot === null) return null;
      slot.isUp = false;
      slot.process.kill('SIGKILL');
      return { pid: slot.process.pid, worker: slot.worker };
    },
    pause(kind, pick) {
      const slot = pickUp(kind, pick);
      if (slot === null) return null;
      const { process } = slot;
      process.kill('SIGSTOP');
      return () => {
        process.kill('SIGCONT');
      };
    },
    async isWhole() {
      while (replacements.size > 0 || Object.values(slots).some((some) => some.some(({ isUp }) => !isUp)))
        await Promise.race([...replacements, new Promise((resolve) => setTimeout(resolve, 50))]);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await closer.close();
      await Promise.all(replacements);
    },
  };
}
