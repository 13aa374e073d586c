import { useCallback, useState } from 'react';

export const SIDES = ['left', 'right'] as const;
export type Side = (typeof SIDES)[number];

/** What was published on this page, and when it was on which screen. */
export interface Published {
  readonly id: string;
  readonly at: number;
  /** Ms from the click to the screen. */
  readonly shownAfter: Readonly<Partial<Record<Side, number>>>;
}

const KEPT = 200;

export interface Tally {
  readonly published: readonly Published[];
  readonly add: (id: string, at: number) => void;
  /** What a screen shows now. */
  readonly see: (side: Side, ids: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

export function useTally(): Tally {
  const [published, setPublished] = useState<readonly Published[]>([]);
  const [screens, setScreens] = useState<Readonly<Partial<Record<Side, ReadonlySet<string>>>>>({});
  const see = useCallback((side: Side, ids: ReadonlySet<string>) => {
    const now = performance.now();
    setScreens((last) => ({ ...last, [side]: ids }));
    setPublished((all) => all.map((one) => shownOn(one, side, ids, now)));
  }, []);
  const add = (id: string, at: number): void => {
    // It may have been on a screen before the answer to who published it was here.
    const now = performance.now();
    const one = SIDES.reduce(
      (made: Published, side) => shownOn(made, side, screens[side] ?? new Set(), now),
      {
        ...{ id, at, shownAfter: {} },
      },
    );
    setPublished((all) => [one, ...all].slice(0, KEPT));
  };
  const clear = useCallback(() => setPublished([]), []);
  return { published, add, see, clear };
}

function shownOn(one: Published, side: Side, ids: ReadonlySet<string>, now: number): Published {
  if (one.shownAfter[side] !== undefined || !ids.has(one.id)) return one;
  return { ...one, shownAfter: { ...one.shownAfter, [side]: now - one.at } };
}
