import type { ActionId } from '../../domain/action.ts';
import { LANES, type Lane } from '../../domain/lane.ts';
import type { Claim } from '../../storage/fan-out/fan-out-claim.ts';
import { ALL_LANES, type LaneRange } from '../../storage/fan-out/fan-out-lanes.ts';

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
