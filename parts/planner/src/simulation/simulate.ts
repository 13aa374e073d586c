import { Host, Thread } from './host.ts';
import { Lags } from './lags.ts';
import { FanOutQueue, FanOutTask } from './queue.ts';
import { costAmong, type Arrival, type FanOutSystem, type LostWorker, type Offer } from './system.ts';
import { Timeline } from './timeline.ts';
import { SimulatedWorker } from './worker.ts';

export interface SimulationResult {
  /** Delay from publication to delivery, per reader. */
  readonly readers: Lags;
  /** Delay from publication to the end of the fan-out, per action. */
  readonly actions: Lags;
  /** When the last one was done, in seconds from the start. */
  readonly drainedAt: number;
  /** When the largest number of readers was waiting, in running and queued fan-outs. */
  readonly longestAt: number;
  /** Average number of running and queued fan-outs. */
  readonly meanOpen: number;
  /** Utilisation of the database's cores. */
  readonly databaseUse: number;
  /** Utilisation of the busiest worker's core, or of the whole machine if there is only one. */
  readonly workerUse: number;
}

/**
 * Simulates the fan-outs of actions event by event: processes and the database share cores, and a worker claims one fan-out
 * after another and runs their chunks in the turns of the lanes, using the worker's own code.
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
  // All workers hear of it, those without work first. Among these the order is random, so they take turns.
  const announce = (except?: SimulatedWorker): void => {
    firstToHear += 1;
    const offer: Offer = { isTaken: false };
    const busy: SimulatedWorker[] = [];
    for (let n = 0; n < workers.length; n += 1) {
      const worker = workers[(firstToHear + n) % workers.length];
      if (worker === undefined || worker === except) continue;
      if (worker.hasWork) busy.push(worker);
      else worker.onOffer(offer);
    }
    for (const worker of busy) worker.onOffer(offer);
  };
  const queue = new FanOutQueue({
    work: () => {
      announce();
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
      ...{ timeline, system, database, queue, host, passOn: announce },
      onDelivered: ({ publishedAt }, count) => {
        // The backlog only shrinks here, so this is its maximum, after a worker has started on it.
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
    // Publications of many API processes are independent.
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
    // API processes have their own machines, as many as they need.
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
