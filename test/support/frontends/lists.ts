import { setTimeout } from 'node:timers/promises';
import type {
  Comment,
  Group,
  ListName,
  ListVariables,
  Row,
} from '../../../docs/examples/frontends/list-documents.ts';
import type { Setting } from './screen.ts';

/** Lists of a reader as a frontend shows them, their feed live beside. Disposing leaves the page. */
export interface Lists extends AsyncDisposable {
  /** Shows a list from its first page on. */
  open(name: ListName, variables: ListVariables): Promise<void>;
  /** What the reader sees of it: of actions and groups the summary, of comments the text. */
  shown(name: ListName): readonly string[];
  loadMore(name: ListName): Promise<unknown>;
  /** Rejects when the server refuses or cannot be reached. */
  bookmark(actionId: string): Promise<unknown>;
  unbookmark(actionId: string): Promise<unknown>;
  comment(actionId: string, text: string): Promise<unknown>;
  removeComment(actionId: string, text: string): Promise<unknown>;
}

export type OpenLists = (setting: Setting) => Promise<Lists>;

export function textOf(node: Row | Comment | Group): string {
  if ('text' in node) return node.text ?? '';
  if ('descriptor' in node) return node.descriptor.summary;
  return `${String(node.count.count)} × ${node.items[0]?.action.descriptor.summary ?? ''}`;
}

/** What an event may have changed is read again: once at a time, and once more for what came meanwhile. */
export class Rereading implements Disposable {
  readonly #readAll: () => Promise<void>;
  #isRunning = false;
  #isWanted = false;
  #isOver = false;

  constructor(readAll: () => Promise<void>) {
    this.#readAll = readAll;
  }

  readonly want = (): void => {
    this.#isWanted = true;
    if (!this.#isRunning) void this.#run();
  };

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isWanted && !this.#isOver) {
      this.#isWanted = false;
      try {
        await this.#readAll();
      } catch {
        // The server cannot be reached now.
        this.#isWanted = true;
        await setTimeout(20);
      }
    }
    this.#isRunning = false;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }
}
