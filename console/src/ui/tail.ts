import { useCallback, useEffect, useReducer, useRef } from 'react';

/** So many lines are kept; what is older goes. */
export const KEPT_LINES = 200;

export interface TailState<Line> {
  readonly shown: readonly Line[];
  /** The latest first. At most KEPT_LINES of them are kept, and all are counted. */
  readonly waiting: readonly Line[];
  readonly waitingCount: number;
  readonly isPaused: boolean;
  /** Something was left out since it is shown. */
  readonly isCut: boolean;
  /** Of the last look; null: it went well. */
  readonly error: Error | null;
  /** Before the first look has an answer. */
  readonly isLoading: boolean;
}

export interface Came<Line> {
  /** The latest first. */
  readonly lines: readonly Line[];
  /** There was more than could be read at once. */
  readonly isCut: boolean;
}
interface Held {
  readonly kind: 'pause' | 'resume';
}
interface Failed {
  readonly error: Error;
}

/** What came while somebody reads waits, and nothing moves under the pointer. */
function tailStep<Line extends { readonly id: string }>(
  state: TailState<Line>,
  step: Came<Line> | Held | Failed,
): TailState<Line> {
  const { shown, waiting, waitingCount, isPaused } = state;
  if ('error' in step) return { ...state, error: step.error, isLoading: false };
  if ('kind' in step) {
    if (step.kind === 'pause') return { ...state, isPaused: true };
    return {
      ...state,
      ...{ waiting: [], waitingCount: 0, isPaused: false },
      shown: [...waiting, ...shown].slice(0, KEPT_LINES),
    };
  }
  // Two who ask at a time may be given the same.
  const known = new Set([...shown, ...waiting].map(({ id }) => id));
  const lines = step.lines.filter(({ id }) => !known.has(id));
  const isCut = state.isCut || step.isCut;
  const isSame = lines.length === 0 && state.error === null && !state.isLoading && isCut === state.isCut;
  if (isSame) return state;
  const looked = { ...state, isCut, error: null, isLoading: false };
  if (!isPaused) return { ...looked, shown: [...lines, ...shown].slice(0, KEPT_LINES) };
  return {
    ...looked,
    waiting: [...lines, ...waiting].slice(0, KEPT_LINES),
    waitingCount: waitingCount + lines.length,
  };
}

/**
 * Asks every so often for what is new.
 * @param read gives what came since it was last asked
 */
export function useTail<Line extends { readonly id: string }>(
  read: () => Promise<Came<Line>>,
  everyMs: number,
): TailState<Line> & {
  readonly look: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
} {
  const [state, step] = useReducer(tailStep<Line>, {
    ...{ shown: [], waiting: [], waitingCount: 0, isPaused: false },
    ...{ isCut: false, error: null, isLoading: true },
  });
  const [round, look] = useReducer((last: number) => last + 1, 0);
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      try {
        // Also after it was left: who asks next, in the same list, is not given these again.
        if (document.visibilityState === 'visible') step(await latest.current());
      } catch (error) {
        if (!isOver) step({ error: asError(error) });
      }
      if (!isOver) timer = setTimeout(() => void ask(), everyMs);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs, round]);
  return {
    ...state,
    look,
    pause: useCallback(() => step({ kind: 'pause' }), []),
    resume: useCallback(() => step({ kind: 'resume' }), []),
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
