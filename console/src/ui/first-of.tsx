import { useState, type ReactNode } from 'react';

const SHOWN = 20;

interface Props {
  /** Of several, such as "refs". */
  readonly noun: string;
  readonly children: readonly ReactNode[];
}

/** The first of what can be a hundred, and the rest by a click: what stands below is not pushed out of sight. */
export function FirstOf({ noun, children }: Props): ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || children.length <= SHOWN) return children;
  return (
    <>
      {children.slice(0, SHOWN)}
      <button type="button" onClick={() => setWhole(true)}>
        {children.length - SHOWN} more {noun}
      </button>
    </>
  );
}
