import { useEffect, useRef, useState, type RefObject } from 'react';

interface Loading {
  readonly picture: RefObject<HTMLImageElement | null>;
  /** There is an address, and so far it could be loaded. */
  readonly isShown: boolean;
  readonly onError: () => void;
}

/** A picture that may not be there: something else stands in its place then. */
export function usePicture(src: string | null | undefined): Loading {
  const picture = useRef<HTMLImageElement>(null);
  const [failed, setFailed] = useState<string>();
  useEffect(() => {
    // What the server has sent may have failed before this runs.
    const { current } = picture;
    if (src != null && current?.complete === true && current.naturalWidth === 0) setFailed(src);
  }, [src]);
  return {
    picture,
    isShown: src != null && src !== '' && src !== failed,
    onError: () => setFailed(src ?? undefined),
  };
}
