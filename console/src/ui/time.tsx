import { useRelativeTime } from '@fanfare/react';
import type { ReactNode } from 'react';
import { momentIn, useZone } from '../zone.ts';

/** How long ago it was; the hint is the moment, in the zone that was chosen. */
export function Time({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} title={momentIn(useZone(), at)}>
      {useRelativeTime(at)}
    </time>
  );
}
