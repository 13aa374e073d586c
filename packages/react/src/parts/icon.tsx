import type { ReactNode } from 'react';

/** Drawn by hand on 24 × 24, in the colour of the text around it. What one presses says what it is in words, too. */
const SHAPES = {
  like: 'M12 20.5 4.4 12.7a4.9 4.9 0 0 1 7-6.9l.6.6.6-.6a4.9 4.9 0 0 1 7 6.9z',
  comments: 'M4 5h16v11h-8.5L7 20v-4H4z',
  // Not closed: nothing to fill once it is pressed.
  reshare: 'M4 12V9a2 2 0 0 1 2-2h13M16 4l3 3-3 3M20 12v3a2 2 0 0 1-2 2H5M8 14l-3 3 3 3',
  bookmark: 'M6 4h12v16l-6-4.2L6 20z',
  bell: 'M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
};

export type Shape = keyof typeof SHAPES;

export function Icon({ of }: { readonly of: Shape }): ReactNode {
  return (
    <svg
      data-icon={of}
      {...{
        width: 18,
        height: 18,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        strokeWidth: 2,
      }}
      aria-hidden="true"
    >
      <path d={SHAPES[of]} />
    </svg>
  );
}
