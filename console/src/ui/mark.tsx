import type { ReactNode } from 'react';

/** Waves that go out from one point. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="6" cy="18" r="3" />
      <path d="M6 10.5a7.5 7.5 0 0 1 7.5 7.5M6 4.5A13.5 13.5 0 0 1 19.5 18" />
    </svg>
  );
}
