/**
 * Whether a test is left out because the machine lacks what it needs. In CI none is: it runs, and fails with what is
 * missing, so that nothing is left out there without anybody noticing.
 */
export function isLeftOut(hasWhatItNeeds: boolean, env: NodeJS.ProcessEnv = process.env): boolean {
  const isCi = (env['CI'] ?? '') !== '' && env['CI'] !== 'false';
  return !hasWhatItNeeds && !isCi;
}
