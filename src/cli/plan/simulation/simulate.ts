import { Host, Thread } from './host.ts';
import { Lags } from './lags.ts';
import { FanOutQueue, FanOutTask } from './queue.ts';
import { costAmong, type Arrival, type FanOutSystem, type LostWorker } from './system.ts';
import { Timeline } from './timeline.ts';
import { SimulatedWorker } from './worker.ts';

export interface SimulationResult {
  /** From publishing to when a reader has it, by reader. */
  readonly readers: Lags;
  /** From publishing to when the fan-out is done, by action. */
  readonly actions: Lags;
  /** When the last one was done, in seconds from the beginning. */
  readonly drainedAt: number;
  /** Up to when most readers waited, for fan-outs that were under way or in the queue: then the next ones were served. */
  readonly longestAt: number;
  /** Fan-outs under way or waiting, on average until then. */
  readonly meanOpen: number;
  /** Share of its cores that the database was at work. */
  readonly databaseUse: number;
  /** Share of one core that the busiest worker was at work; of the whole machine where there is one. */
  readonly workerUse: number;
}

/**
 * Plays the fan-outs of actions event by event: processes and the database share cores, a worker takes one fan-out after
 * the other and runs their chunks in the turns of the lanes, by the code of the worker itself.
 */
export function simulateFanOut(
  system: FanOutSystem,
  arrivals: readonly Arrival[],
  lost: LostWorker | null = null,
): SimulationResult {
  const timeline = new Timeline();
  const database = new Host(timeline, system.databaseCores);
  const hosts: Host[] = [];
  const readers = new Lags();
  const actions = new Lags();
  let open = 0;
  let openSeconds = 0;
  let lookedAt = 0;
  let drainedAt = 0;
  let readersLeft = 0;
  let longest = 0;
  let longestAt = 0;
  const opens = (change: number): void => {
    openSeconds += open * (timeline.now - lookedAt);
    lookedAt = timeline.now;
    open += change;
  };
  const workers: SimulatedWorker[] = [];
  let firstToHear = 0;
  const queue = new FanOutQueue({
    work: () => {
      // All hear of it; who is first is chance, and so each is in turn.
      firstToHear += 1;
      for (let n = 0; n < workers.length; n += 1) workers[(firstToHear + n) % workers.length]?.look();
    },
    expired: () => {
      for (const worker of workers)
        timeline.at(worker.pollsAt(timeline.now), () => {
          worker.look();
        });
    },
  });
  const start = (): SimulatedWorker => {
    const host = system.isOneMachine ? database : new Host(timeline, 1);
    hosts.push(host);
    return new SimulatedWorker({
      ...{ timeline, system, database, queue, host },
      onDelivered: ({ publishedAt }, count) => {
        // It only falls here, so this is when most of it was there, and a worker has begun on it.
        if (readersLeft > longest) {
          longest = readersLeft;
          longestAt = timeline.now;
        }
        readersLeft -= count;
        readers.add(timeline.now - publishedAt, count);
      },
      onDone: ({ publishedAt }) => {
        actions.add(timeline.now - publishedAt);
        opens(-1);
        drainedAt = timeline.now;
      },
    });
  };
  for (let n = 0; n < system.workers; n += 1) workers.push(start());
  const publisher = system.isOneMachine ? new Thread(database) : null;
  for (const arrival of arrivals)
    timeline.at(arrival.at, () => {
      opens(1);
      publish(arrival);
    });
  let publishing = 0;
  const publish = (arrival: Arrival): void => {
    publishing += 1;
    // Those of many API processes have nothing in common.
    const {
      process,
      database: cpu,
      wait,
      onPath = 1,
    } = costAmong(system.costs.publish, publisher === null ? 1 : publishing);
    const store = (): void => {
      database.run(cpu * onPath, () => {
        database.run(cpu * (1 - onPath), () => undefined);
        publisher?.run(process * (1 - onPath), () => undefined);
        timeline.after(wait, () => {
          publishing -= 1;
          queue.add(new FanOutTask(arrival));
          readersLeft += arrival.readers;
        });
      });
    };
    // API processes have machines of their own, as many as they need.
    if (publisher === null) timeline.after(process * onPath, store);
    else publisher.run(process * onPath, store);
  };
  const lose = ({ worker, backAfter }: LostWorker): void => {
    const left = workers.map((one) => one.readersLeft);
    const index = worker === 'busiest' ? left.indexOf(Math.max(...left)) : worker;
    workers[index]?.die();
    if (backAfter === null) return;
    timeline.after(backAfter, () => {
      const back = start();
      workers[index] = back;
      back.look();
    });
  };
  if (lost !== null)
    timeline.at(lost.at, () => {
      lose(lost);
    });
  timeline.run();
  const seconds = Math.max(drainedAt, Number.EPSILON);
  return {
    ...{ readers, actions, drainedAt, longestAt },
    meanOpen: openSeconds / seconds,
    databaseUse: database.worked / database.cores / seconds,
    workerUse: Math.max(...hosts.map(({ worked, cores }) => worked / cores)) / seconds,
  };
}
