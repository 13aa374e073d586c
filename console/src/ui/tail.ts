import { useCallback, useEffect, useReducer, useRef } from 'react';

/** So many lines are kept; what is older goes. */
export const KEPT_LINES = 200;

export interface TailState<Line> {
  readonly shown: readonly Line[];
  /** The latest first. At most KEPT_LINES of them are kept, and all are counted. */
  readonly waiting: readonly Line[];
  readonly waitingCount: number;
  readonly isPaused: boolean;
}

interface Came<Line> {
  readonly kind: 'came';
  readonly lines: readonly Line[];
}
interface Held {
  readonly kind: 'pause' | 'resume';
}

/** What came while somebody reads waits, and nothing moves under the pointer. */
function tailStep<Line extends { readonly id: string }>(
  state: TailState<Line>,
  step: Came<Line> | Held,
): TailState<Line> {
  const { shown, waiting, waitingCount, isPaused } = state;
  if (!('lines' in step)) {
    if (step.kind === 'pause') return { ...state, isPaused: true };
    return {
      ...{ waiting: [], waitingCount: 0, isPaused: false },
      shown: [...waiting, ...shown].slice(0, KEPT_LINES),
    };
  }
  // Two who ask at a time may be given the same.
  const known = new Set([...shown, ...waiting].map(({ id }) => id));
  const lines = step.lines.filter(({ id }) => !known.has(id));
  if (lines.length === 0) return state;
  if (!isPaused) return { ...state, shown: [...lines, ...shown].slice(0, KEPT_LINES) };
  return {
    ...state,
    waiting: [...lines, ...waiting].slice(0, KEPT_LINES),
    waitingCount: waitingCount + lines.length,
  };
}

/**
 * Asks every so often for what is new.
 * @param read gives what came since it was last asked, the latest first
 */
export function useTail<Line extends { readonly id: string }>(
  read: () => Promise<readonly Line[]>,
  { everyMs, onError }: { readonly everyMs: number; readonly onError: (error: unknown) => void },
): TailState<Line> & { readonly pause: () => void; readonly resume: () => void } {
  const [state, step] = useReducer(tailStep<Line>, {
    ...{ shown: [], waiting: [], waitingCount: 0, isPaused: false },
  });
  const latest = useRef({ read, onError });
  useEffect(() => {
    latest.current = { read, onError };
  });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        const lines = document.visibilityState === 'visible' ? await latest.current.read() : [];
        // Also after it was left: who asks next, in the same list, is not given these again.
        step({ kind: 'came', lines });
      } catch (error) {
        if (!isOver) latest.current.onError(error);
      }
      if (!isOver) timer = setTimeout(() => void look(), everyMs);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs]);
  return {
    ...state,
    pause: useCallback(() => step({ kind: 'pause' }), []),
    resume: useCallback(() => step({ kind: 'resume' }), []),
  };
}
