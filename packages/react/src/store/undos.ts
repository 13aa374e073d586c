import type { FanfareItem } from '../item.ts';
import type { Words } from '../more-words.ts';
import { Signal } from './signal.ts';

export interface Undo {
  readonly what: keyof Words['done'];
  readonly item: FanfareItem;
  readonly undo: () => Promise<void>;
}

/** What the reader has done last that can be taken back. */
export class Undos extends Signal {
  #last: Undo | null = null;

  readonly getSnapshot = (): Undo | null => this.#last;

  readonly set = (last: Undo | null): void => {
    this.#last = last;
    this.emit();
  };

  /** Also offers it to the toast. */
  did(undo: Undo): Undo {
    this.set(undo);
    return undo;
  }
}
