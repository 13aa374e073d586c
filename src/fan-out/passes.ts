import type { ActionId, UserId } from '../domain/action.ts';
import { LANES, type Lane } from '../domain/lane.ts';
import { type Claim, ALL_LANES, type LaneRange } from './store/fan-out-claim.ts';

/** Running passes of a worker by lane. Each lane has the full concurrency of its own. */
export class Passes {
  readonly #room: number;
  readonly #running: Readonly<Record<Lane, Set<Promise<void>>>> = {
    URGENT: new Set(),
    LIVE: new Set(),
    BULK: new Set(),
  };

  readonly #onRoom: () => void;
  readonly #actions = new Set<ActionId>();

  /** @param room concurrent passes per lane. @param onRoom called when a full lane has room again. */
  constructor(room: number, onRoom: () => void) {
    this.#room = room;
    this.#onRoom = onRoom;
  }

  add({ lane, action }: Claim, pass: Promise<void>): void {
    const running = this.#running[lane];
    running.add(pass);
    this.#actions.add(action.id);
    void pass.finally(() => {
      const wasFull = !this.#hasRoom(lane);
      running.delete(pass);
      this.#actions.delete(action.id);
      if (wasFull) this.#onRoom();
    });
  }

  get isEmpty(): boolean {
    return this.#actions.size === 0;
  }

  get actions(): readonly ActionId[] {
    return [...this.#actions];
  }

  get hasRoomEverywhere(): boolean {
    return LANES.every((lane) => this.#hasRoom(lane));
  }

  /** Ranges of lanes in which to look for the next pass, in order. Empty: no lane has room. */
  lanesWithRoom(): readonly LaneRange[] {
    const lanes = LANES.filter((lane) => this.#hasRoom(lane));
    if (lanes.length === LANES.length) return ALL_LANES;
    const [first, second, third] = lanes;
    if (first === 'URGENT' && second === 'LIVE' && third === undefined) return [{ atLeast: second }];
    return lanes.map((only) => ({ only }));
  }

  async oneEnded(): Promise<true> {
    await Promise.race(LANES.flatMap((lane) => [...this.#running[lane]]));
    return true;
  }

  async allEnded(): Promise<void> {
    await Promise.all(LANES.flatMap((lane) => [...this.#running[lane]]));
  }

  #hasRoom(lane: Lane): boolean {
    return this.#running[lane].size < this.#room;
  }
}

/** Whether a pass may continue. Asked before every write. */
export interface Fence {
  /** `true` while no other worker has taken the action over. */
  isHeld(): Promise<boolean>;
  isStopping(): boolean;
  /** Other passes are under way in this process: then fewer, larger writes bring all of them to an end sooner. */
  hasCompany(): boolean;
}

/** Everybody in the audience up to this reader has been served. */
export interface Reached {
  readonly afterUserId: UserId;
  readonly delivered: number;
}

export type PassOutcome =
  | { readonly kind: 'complete'; readonly delivered: number }
  /** The claim is void: lost, or the action has changed. Writes made until then remain. */
  | { readonly kind: 'void'; readonly reached: Reached | null }
  /** Stopped between two chunks on request; a later pass continues from the checkpoint. */
  | { readonly kind: 'stopped' };

export interface Lease extends Disposable {
  /** `false` once another worker has the action. An expired lease can still be renewed until then; asks when in doubt. */
  isHeld(): Promise<boolean>;
}

/** Renews a lease three times per lease period until disposed. @param extend resolves to false when the claim is void. */
export function holdLease(extend: () => Promise<boolean>, leaseMs: number): Lease {
  let ownedUntil = performance.now() + leaseMs;
  let isLost = false;
  let renewing: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const startedAt = performance.now();
    if (await extend()) ownedUntil = startedAt + leaseMs;
    else isLost = true;
  }

  /** One request at a time: a slow database is not asked again before it has answered. */
  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  const timer = setInterval(() => {
    renewOnce().catch(() => {
      // A failed renewal is not fatal: `heldUntil` says when the lease becomes doubtful.
    });
  }, leaseMs / 3);
  return {
    async isHeld() {
      if (!isLost && performance.now() >= ownedUntil) await renewOnce();
      return !isLost;
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}
