import { useRelativeTime } from '@fanfare/react';
import type { ReactNode } from 'react';
import { momentIn, useZone } from '../zone.ts';

/** The moment, in the zone that was chosen; how long ago it was is the hint. */
export function Time({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} title={useRelativeTime(at)}>
      {momentIn(useZone(), at)}
    </time>
  );
}
