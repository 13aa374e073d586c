import { useEffect, useRef } from 'react';

/** Calls back every so many ms while the page is seen. */
export function useEvery(ms: number, call: () => void): void {
  const latest = useRef(call);
  useEffect(() => {
    latest.current = call;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, ms);
    return () => {
      clearInterval(timer);
    };
  }, [ms]);
}
