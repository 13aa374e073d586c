import type { ActionId, UserId } from '../domain/action.ts';
import { LANES, type Lane } from '../domain/lane.ts';
import type { Claim, LaneRoom } from './store/fan-outs.ts';
import type { Context } from '../feed/context.ts';
import type { InteractionGroup } from '../domain/relevancy.ts';
import type { LaneGate } from './lane-gate.ts';
import { OnDispose } from '../lib/closer.ts';

/** A claim with all that lifts its action. */
export interface LiftedClaim {
  readonly claim: Claim;
  readonly interactions: readonly InteractionGroup[];
}

/** The context of a pass. */
export interface PassContext extends Context {
  /** The readers who can be skipped; see `audience.ts`. */
  readonly skipDormant: (userIds: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly chunkSize: number;
  /** Decides which chunk runs next. */
  readonly gate: LaneGate;
}

/** Actions claimed at once while their audiences turn out to be small. */
const MANY = 64;
/** Batches of a lane whose small audiences are being read and delivered, so that one is claimed while others are written. */
const BATCHES_AT_ONCE = 3;

/** A batch that is under way. */
interface Running {
  /** Passes that it runs; all that is delivered together is one. Until its audiences are known, each action may need one. */
  places: number;
  /** Its small audiences are being read or delivered. */
  isTogether: boolean;
}

interface LaneState {
  readonly batches: Set<Running>;
  /** All audiences of the last batch were small. */
  areSmall: boolean;
}

/** The passes that a worker has under way, by lane. Each lane has the full concurrency of its own. */
export class Passes {
  readonly #room: number;
  readonly #lanes: Readonly<Record<Lane, LaneState>> = {
    URGENT: { batches: new Set(), areSmall: false },
    LIVE: { batches: new Set(), areSmall: false },
    BULK: { batches: new Set(), areSmall: false },
  };

  readonly #onRoom: () => void;
  readonly #actions = new Set<ActionId>();
  readonly #running = new Set<Promise<void>>();

  /** @param room concurrent passes per lane. @param onRoom called when a full lane has room again. */
  constructor(room: number, onRoom: () => void) {
    this.#room = room;
    this.#onRoom = onRoom;
  }

  add(claims: Batch, run: (places: Places) => Promise<void>): void {
    const [{ lane }] = claims;
    const state = this.#lanes[lane];
    const batch: Running = { places: state.areSmall ? 1 : claims.length, isTogether: true };
    const change = (work: () => void): void => this.#change(lane, work);
    state.batches.add(batch);
    for (const { action } of claims) this.#actions.add(action.id);
    const running = run({
      opened: (isTogether, alone) => {
        state.areSmall = alone === 0;
        const left = this.#room - this.#placesOf(lane) + batch.places;
        const begun = Math.min(alone, Math.max(1, left));
        change(() => Object.assign(batch, { isTogether, places: begun + (isTogether ? 1 : 0) }));
        return begun;
      },
      ended: (isTogether = false) => {
        change(() => {
          batch.places -= 1;
          if (isTogether) batch.isTogether = false;
        });
      },
    }).finally(() => {
      for (const { action } of claims) this.#actions.delete(action.id);
      this.#running.delete(running);
      change(() => state.batches.delete(batch));
    });
    this.#running.add(running);
  }

  /** Takes a place for a batch that is about to be claimed, until disposed. `null`: the lane is full. */
  hold(lane: Lane): Disposable | null {
    if (!this.#hasRoom(lane)) return null;
    const { batches } = this.#lanes[lane];
    const batch: Running = { places: 1, isTogether: true };
    batches.add(batch);
    let ended: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (ended = resolve));
    this.#running.add(held);
    return new OnDispose(() => {
      this.#running.delete(held);
      this.#change(lane, () => batches.delete(batch));
      ended();
    });
  }

  #change(lane: Lane, work: () => void): void {
    const wasFull = !this.#hasRoom(lane);
    work();
    if (wasFull && this.#hasRoom(lane)) this.#onRoom();
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

  /** Lanes in which to look for actions, and for how many. Empty: no lane has room. */
  lanesWithRoom(): readonly LaneRoom[] {
    return LANES.filter((lane) => this.#hasRoom(lane)).map((lane) => {
      return { lane, most: this.#lanes[lane].areSmall ? MANY : this.#room - this.#placesOf(lane) };
    });
  }

  async allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #hasRoom(lane: Lane): boolean {
    const together = [...this.#lanes[lane].batches].filter(({ isTogether }) => isTogether);
    return this.#placesOf(lane) < this.#room && together.length < BATCHES_AT_ONCE;
  }

  #placesOf(lane: Lane): number {
    return [...this.#lanes[lane].batches].reduce((sum, { places }) => sum + places, 0);
  }
}

/** Claims of one lane with one token. */
export type Batch = readonly [Claim, ...Claim[]];

/** The places of a batch in its lane. */
export interface Places {
  /**
   * @param isTogether whether some are delivered together.
   * @param alone how many want to go alone. Returns how many of these may.
   */
  opened(isTogether: boolean, alone: number): number;
  /** Called when a batch that is delivered together has ended, or a pass that went alone. */
  ended(isTogether?: boolean): void;
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
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
