import { afterEach, expect, test, vi } from 'vitest';
import { pageLife } from '../../src/store/page-life.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test.each(['hidden', 'visible'])(
  'a page that begins %s closes its connection only if it stays hidden',
  (visibilityState) => {
    vi.useFakeTimers();
    vi.stubGlobal('window', new EventTarget());
    vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState }));
    const calls: string[] = [];
    const connection = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    const leave = pageLife(connection, 0);
    vi.runAllTimers();
    expect(calls.at(-1)).toBe(visibilityState === 'hidden' ? 'pause' : 'resume');
    Object.assign(document, { visibilityState: 'visible' });
    document.dispatchEvent(new Event('visibilitychange'));
    expect(calls.at(-1)).toBe('resume');
    leave();
  },
);
