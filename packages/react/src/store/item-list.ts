import type { Place } from './order.ts';

/** An item and where it is shown; `place` is null where only the server can tell. */
export interface Entry<Item> {
  readonly item: Item;
  readonly place: Place | null;
  /** The item as it was shown last, with the reader's own writes and marks. */
  shown?: Item;
}

/** What happened to an item: it is new, or it is now like this, or it is gone. */
export type ItemEvent<Item> = { readonly item: Item; readonly isNew: boolean } | { readonly itemId: string };

/** Items of a list and where they end. */
export interface ItemPage<Item> {
  readonly edges: readonly { readonly node: Item; readonly cursor?: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  /** Of one that does not begin at the top of its list. */
  readonly top?: ItemTop | undefined;
}

/** Where a list begins that has more above. */
export interface ItemTop {
  /** `after` of a page that begins where the list does. */
  readonly after: string;
  /** `before` of the page above. */
  readonly before: string;
}
/** How many more entries there are; null: it is of one that is not loaded, and only the server knows. */
type Change = 1 | 0 | -1 | null;

type Heard<Item> = readonly [event: ItemEvent<Item>, stays: boolean];

/** A list as it is shown, and what waits to be shown. Pure: what was asked for comes as pages, what happened as events. */
export class ItemList<Item extends { readonly id: string }> {
  readonly #placeOf: (item: Item) => Place | null;
  #shown: Entry<Item>[] = [];
  readonly #waiting = new Map<string, Entry<Item>>();
  /** Below it nothing is known until the next page. Null: all is known, or nothing is, or only the server knows where it is. */
  #lowerEdge: Place | null = null;
  #cursor: string | null = null;
  #hasNextPage = false;
  /** Above it nothing is known until the page above. */
  #upperEdge: Place | null = null;
  #top: ItemTop | undefined;
  /** Events since a page was asked for: it may have been read before them. */
  readonly #underWay = new Set<Heard<Item>[]>();

  /** @param placeOf where an item stands; null: only the server can tell, as in the order TOP */
  constructor(placeOf: (item: Item) => Place | null) {
    this.#placeOf = placeOf;
  }

  get entries(): readonly Entry<Item>[] {
    return this.#shown;
  }

  /** What waits. */
  get held(): readonly Entry<Item>[] {
    return [...this.#waiting.values()];
  }

  /** Below it nothing is known; null: that is not so, or nobody can tell. */
  get lowerEdge(): Place | null {
    return this.#lowerEdge;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether it waits, be it to be shown higher. */
  waits(id: string): boolean {
    return this.#waiting.has(id);
  }

  get hasNextPage(): boolean {
    return this.#hasNextPage;
  }

  /** Undefined: it begins at the top. */
  get top(): ItemTop | undefined {
    return this.#top;
  }

  /** Whether it stands where the list ends or below. Where nobody can tell, it does. */
  reaches(item: Item): boolean {
    const [place, last] = [this.#placeOf(item), this.#shown.at(-1)?.place];
    return place === null || last == null || place <= last;
  }

  /** `after` of the next page. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /**
   * @param mustWait whether what is new or bumped waits. What is removed or counted is applied at once either way.
   * @param stays whether an item that is shown stays in its place: what the reader did to it is no news, and moves nothing.
   */
  apply(event: ItemEvent<Item>, mustWait: boolean, stays = false): Change {
    for (const events of this.#underWay) events.push([event, stays]);
    return this.#apply(event, mustWait, stays);
  }

  #apply(event: ItemEvent<Item>, mustWait: boolean, stays: boolean): Change {
    const id = 'item' in event ? event.item.id : event.itemId;
    const at = this.#shown.findIndex((entry) => entry.item.id === id);
    const shown = this.#shown[at];
    const isKnown = shown !== undefined || this.#waiting.has(id);
    if (!('item' in event)) {
      this.#remove(id);
      if (isKnown) return -1;
      return this.#isPart ? null : 0;
    }
    const { item } = event;
    // A bump brings up what may have been below what is loaded.
    const change = !isKnown && (event.isNew || !this.#isPart) ? 1 : 0;
    const place = this.#placeOf(item);
    if (this.#isBelowEdge(place)) {
      this.#remove(id);
      return change === 0 ? 0 : null;
    }
    if (stays && shown !== undefined) {
      this.#shown = this.#shown.with(at, { item, place: shown.place });
      if (this.#waiting.has(id)) this.#waiting.set(id, { item, place });
      return change;
    }
    if (this.#isAboveEdge(place)) {
      this.#waiting.delete(id);
      // The page above brings it. It does not vanish while it is read.
      if (shown !== undefined && mustWait) this.#shown = this.#shown.with(at, { item, place: shown.place });
      else this.#remove(id);
      return change;
    }
    if (shown !== undefined && (shown.place === place || (mustWait && isBelow(place, shown.place)))) {
      this.#shown = this.#shown.with(at, { item, place: shown.place });
      this.#waiting.delete(id);
      return change;
    }
    if (mustWait || place === null) {
      if (shown !== undefined) this.#shown = this.#shown.with(at, { item, place: shown.place });
      // In the order TOP a bump says nothing about the place.
      if (shown === undefined || place !== null) this.#waiting.set(id, { item, place });
      return change;
    }
    this.#waiting.delete(id);
    this.#insert([{ item, place }]);
    return change;
  }

  /** Shows what waits. @returns the id of the uppermost of it */
  showWaiting(): string | null {
    const entries = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#insert(entries);
    const ids = new Set(entries.map(({ item }) => item.id));
    return this.#shown.find(({ item }) => ids.has(item.id))?.item.id ?? null;
  }

  /** Call it before the page below, or above, is asked for, and what it returns with the page, or with null when it failed. */
  expectPage(isUp = false): (page: ItemPage<Item> | null) => void {
    const events: Heard<Item>[] = [];
    this.#underWay.add(events);
    return (page) => {
      this.#underWay.delete(events);
      if (page === null) return;
      const known = new Map(this.#shown.map(({ item, place }) => [item.id, place]));
      const entries = page.edges.map(({ node }) => this.#entryOf(node));
      this.#insert(entries.filter(({ item: { id } }) => !known.has(id) && !this.#waiting.has(id)));
      if (isUp) {
        // What is shown below was bumped to there.
        for (const entry of entries)
          if (isBelow(known.get(entry.item.id) ?? null, entry.place)) this.#waiting.set(entry.item.id, entry);
        this.#beginAt(page);
      } else this.#endAt(page);
      for (const [event, stays] of events) this.#apply(event, true, stays);
    };
  }

  /**
   * The same for a list that is read again from where it begins: what is shown and not in it any more goes, what is new waits or is
   * shown.
   */
  expectRefresh(): (page: ItemPage<Item> | null, mustWait: boolean) => void {
    const events: Heard<Item>[] = [];
    this.#underWay.add(events);
    return (page, mustWait) => {
      this.#underWay.delete(events);
      if (page === null) return;
      const fresh = new Map(page.edges.map(({ node }) => [node.id, this.#entryOf(node)]));
      this.#waiting.clear();
      const isFirst = this.#shown.length === 0;
      // Where only the server can tell, everything stands as the page has it.
      if (isFirst || [...fresh.values()].some(({ place }) => place === null))
        this.#shown = [...fresh.values()];
      else {
        const bottom = this.#hasNextPage ? this.#shown.at(-1)?.place : null;
        this.#shown = this.#shown.flatMap(({ item, place }) => {
          const entry = fresh.get(item.id);
          return entry === undefined ? [] : [{ item: entry.item, place }];
        });
        const shown = new Map(this.#shown.map((entry) => [entry.item.id, entry]));
        const moved = [...fresh.values()].filter(({ item, place }) => {
          const before = shown.get(item.id)?.place;
          return before !== place && !(mustWait && isBelow(place, before));
        });
        // Below what is shown nothing was known: what is there is no news, and moves nothing.
        const isNews = ({ place }: Entry<Item>): boolean => mustWait && !isBelow(place, bottom);
        this.#insert(moved.filter((entry) => !isNews(entry)));
        for (const entry of moved) if (isNews(entry)) this.#waiting.set(entry.item.id, entry);
      }
      this.#endAt(page);
      this.#beginAt(page);
      for (const [event, stays] of events) this.#apply(event, mustWait, stays);
    };
  }

  #entryOf(item: Item): Entry<Item> {
    return { item, place: this.#placeOf(item) };
  }

  #endAt({ edges, pageInfo }: ItemPage<Item>): void {
    const last = edges.at(-1);
    const { endCursor, hasNextPage } = pageInfo;
    this.#cursor = endCursor ?? this.#cursor;
    this.#hasNextPage = hasNextPage;
    // A page may end below its last item: what comes between is not in the next one.
    if (last !== undefined && (last.cursor ?? endCursor) === endCursor)
      this.#lowerEdge = this.#placeOf(last.node);
    else if (endCursor !== null) this.#lowerEdge = null;
  }

  #beginAt({ edges, top }: ItemPage<Item>): void {
    const first = edges[0]?.node;
    this.#top = top;
    if (first !== undefined) this.#upperEdge = this.#placeOf(first);
  }

  /** Whether there is more above or below. */
  get #isPart(): boolean {
    return this.#hasNextPage || this.#top !== undefined;
  }

  #isAboveEdge(place: Place | null): boolean {
    return this.#top !== undefined && place !== null && this.#upperEdge !== null && place > this.#upperEdge;
  }

  #isBelowEdge(place: Place | null): boolean {
    return this.#hasNextPage && place !== null && this.#lowerEdge !== null && place < this.#lowerEdge;
  }

  #remove(id: string): void {
    this.#waiting.delete(id);
    this.#shown = this.#shown.filter(({ item }) => item.id !== id);
  }

  /** Each id stands once, in the place that came last. */
  #insert(entries: readonly Entry<Item>[]): void {
    if (entries.length === 0) return;
    const ids = new Set(entries.map(({ item }) => item.id));
    const rest = this.#shown.filter(({ item }) => !ids.has(item.id));
    this.#shown = [...rest, ...entries].sort((a, b) =>
      a.place === null || b.place === null || a.place === b.place ? 0 : a.place > b.place ? -1 : 1,
    );
  }
}

/** What raised an item was taken back: that is no news, and moves nothing under the reader. */
function isBelow(place: Place | null, before: Place | null | undefined): boolean {
  return place !== null && before != null && place < before;
}
