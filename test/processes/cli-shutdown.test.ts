import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startScript, type CliResult } from '../support/run-cli.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/shutdown.ts', import.meta.url));

describe('closeOnSignals', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('closes and exits with 0 on %s', async (signal) => {
    await using script = startScript(FIXTURE, ['closes']);
    await script.stdoutHas(/ready/);
    script.signal(signal);
    const { code, stderr } = await script.result;
    expect(stderr).toContain(`"reason":"${signal}"`);
    expect(stderr).toContain('"msg":"Closed"');
    expect(code).toBe(0);
  });

  it('exits with 1 at once on a second signal', async () => {
    await using script = startScript(FIXTURE, ['never closes']);
    await script.stdoutHas(/ready/);
    let ended: CliResult | undefined;
    void script.result.then((result) => {
      ended = result;
    });
    // Signals that follow within a second count as the same one, so it takes several.
    await expect
      .poll(
        () => {
          script.signal('SIGTERM');
          return ended?.code;
        },
        { timeout: PATIENCE_MS },
      )
      .toBe(1);
    expect(ended?.stderr).not.toContain('killed by timeout');
  });

  it('exits with 1 if closing takes longer than ten seconds', async () => {
    await using script = startScript(FIXTURE, ['never closes']);
    await script.stdoutHas(/ready/);
    script.signal('SIGTERM');
    const { code, stderr } = await script.result;
    expect(stderr).toContain('killed by timeout');
    expect(code).toBe(1);
  });

  it('exits with 1 if closing fails, and says why', async () => {
    await using script = startScript(FIXTURE, ['cannot close']);
    await script.stdoutHas(/ready/);
    script.signal('SIGTERM');
    const { code, stderr } = await script.result;
    expect(stderr).toContain('Stuck');
    expect(code).toBe(1);
  });

  it('closes and exits with 1 on an uncaught error', async () => {
    const { code, stderr } = await startScript(FIXTURE, ['closes', 'and throws']).result;
    expect(stderr).toContain('Nobody caught this');
    expect(stderr).toContain('"msg":"Closed"');
    expect(code).toBe(1);
  });
});
