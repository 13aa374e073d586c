import { useEffect, useRef, type RefObject } from 'react';

/** What was given at the last rendering, for what calls it later. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
