import type * as sdkNode from '@opentelemetry/sdk-node';
import { CommandError } from './context.ts';
import { packageVersion } from '../lib/package-info.ts';
import { within } from '../lib/within.ts';

/** Maximum time to wait for an unreachable exporter, in milliseconds. */
const FLUSH_WITHIN_MS = 3_000;

/**
 * Starts the OpenTelemetry SDK, which reads its own environment variables (OTEL_…). Disposing sends the remaining spans.
 * Traces only: metrics are on /metrics, the log is on stderr.
 * @throws CommandError when the SDK is not installed.
 */
export async function startTelemetry(): Promise<AsyncDisposable> {
  const { NodeSDK, resources } = await load();
  const attributes = { 'service.name': 'fanfare', 'service.version': await packageVersion() };
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME overrides this.
    resource: resources.resourceFromAttributes(attributes),
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  // Only spans that cannot be sent are lost.
  const flush = () => within(FLUSH_WITHIN_MS, sdk.shutdown(), undefined).catch(() => undefined);
  return { [Symbol.asyncDispose]: flush };
}

async function load(): Promise<typeof sdkNode> {
  try {
    return await import('@opentelemetry/sdk-node');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new CommandError('--telemetry requires the SDK: run npm install @opentelemetry/sdk-node@0.223.0');
  }
}
