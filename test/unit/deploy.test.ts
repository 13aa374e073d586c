import { readFileSync } from 'node:fs';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ERROR_CODES } from '../../src/domain/errors.ts';
import { METRICS } from '../../src/app/brought.ts';
import { SETTING_NAMES } from '../support/setting-names.ts';
import { createGroupMetrics } from '../../parts/processes/src/metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const read = (path: string): string => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: Spec;
}

interface Spec {
  readonly selector?: { readonly matchLabels?: Labels } & Readonly<Record<string, unknown>>;
  readonly podSelector?: { readonly matchLabels: Labels };
  readonly maxUnavailable?: number;
  readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
  readonly metrics?: readonly ScaledBy[];
  readonly egress?: readonly {
    readonly to?: readonly object[];
    readonly ports: readonly { readonly port: number }[];
  }[];
  readonly ports?: readonly { readonly targetPort: string }[];
  readonly ingress?: readonly { readonly ports: readonly { readonly port: string }[] }[];
  readonly template?: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: {
      readonly automountServiceAccountToken: boolean;
      readonly terminationGracePeriodSeconds: number;
      readonly securityContext: Readonly<Record<string, unknown>>;
      readonly containers: readonly Container[];
      readonly volumes: readonly { readonly name: string; readonly emptyDir?: object }[];
    };
  };
}

/** One entry of a HorizontalPodAutoscaler. */
interface ScaledBy {
  readonly type: string;
  readonly pods?: Measured;
  readonly object?: Measured;
  readonly external?: Measured;
}

interface Measured {
  readonly metric: { readonly name: string };
  readonly target: { readonly type: string; readonly averageValue?: string };
}

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
}

type Labels = Readonly<Record<string, string>>;

const kustomization = parse(read('kubernetes/kustomization.yaml')) as {
  readonly resources: readonly string[];
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
  readonly configMapGenerator: readonly { readonly literals: readonly string[] }[];
};
const resources = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(`kubernetes/${file}`)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Resource;
  }),
);
const deployments = resources.filter(({ kind }) => kind === 'Deployment');
const literals = new Map(
  kustomization.configMapGenerator.flatMap(({ literals: lines }) =>
    lines.map((line) => line.split('=') as [string, string]),
  ),
);

async function metricNames(): Promise<Set<string>> {
  const page = await createGroupMetrics().page([await createMetrics({ parts: METRICS }).snapshot()]);
  const types = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

function expectMetrics(expressions: readonly string[], known: ReadonlySet<string>): void {
  expect(expressions.length).toBeGreaterThan(0);
  for (const expression of expressions) {
    const names = expression.match(/\b(?:fanfare|nodejs|process)_\w+/g) ?? [];
    expect(names, expression).not.toEqual([]);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  }
}

/** The resources as the API of Kubernetes has them, by its own schemas. */
const SCHEMAS = [
  Deployment,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  ConfigMap,
  Namespace,
  Service,
];

function refused(resource: Resource): string | null {
  const Schema = SCHEMAS.find(
    ({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind,
  );
  if (Schema === undefined) return `There is no ${resource.kind} in ${resource.apiVersion}`;
  try {
    new Schema(resource as never).validate();
    return null;
  } catch (error) {
    return String(error);
  }
}

describe('the example for Kubernetes', () => {
  it('has resources that the Kubernetes API accepts', () => {
    expect(resources.flatMap((resource) => refused(resource) ?? [])).toEqual([]);
  });

  it('is rejected with a missing field or one of the wrong type', () => {
    const [deployment] = deployments;
    if (deployment === undefined) throw new Error('There is no deployment');
    const changed = (spec: object): Resource => ({ ...deployment, spec: { ...deployment.spec, ...spec } });
    expect(refused(changed({ replicas: 'three' }))).toContain('replicas');
    expect(refused(changed({ selector: undefined }))).toContain('selector');
    expect(refused({ ...deployment, apiVersion: 'apps/v2' })).toBe('There is no Deployment in apps/v2');
  });

  it('has an API and workers with matching labels', () => {
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['api', 'worker']);
    const labels = deployments.map(({ spec }) => spec?.template?.metadata.labels ?? {});
    const isChosenBy = (chosen: Labels) => (these: Labels) =>
      Object.entries(chosen).every(([name, value]) => these[name] === value);
    for (const { kind, metadata, spec } of resources) {
      const chosen = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
      if (chosen !== undefined)
        expect(labels.some(isChosenBy(chosen as Labels)), `${kind} ${metadata.name}`).toBe(true);
      if (spec?.scaleTargetRef !== undefined)
        expect(deployments.map((one) => one.metadata.name)).toContain(spec.scaleTargetRef.name);
    }
  });

  it('uses existing settings, ports and probes', () => {
    expect([...literals.keys()].filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
    const [api, worker] = deployments.map(({ spec }) => spec?.template?.spec.containers[0]);
    expect([api?.args, worker?.args]).toEqual([['serve', '--no-worker'], ['worker']]);
    expect(api?.ports).toContainEqual({ name: 'http', containerPort: Number(literals.get('PORT')) });
    for (const container of [api, worker])
      expect(container?.ports).toContainEqual({
        name: 'metrics',
        containerPort: Number(literals.get('METRICS_PORT')),
      });
    expect(api?.livenessProbe.httpGet).toEqual({ path: '/health', port: 'metrics' });
    for (const container of [api, worker])
      expect(container?.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'metrics' });
    expect(worker?.livenessProbe.exec?.command).toEqual(['node', 'bin/fanfare.js', 'worker', '--health']);
    const named = resources.flatMap(({ spec }) => [
      ...(spec?.ports ?? []).map(({ targetPort }) => targetPort),
      ...(spec?.ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port)),
    ]);
    expect([...new Set(named)].sort()).toEqual(['http', 'metrics']);
  });

  const scaledBy = resources.flatMap(({ spec }) => spec?.metrics ?? []);
  const externals = scaledBy.flatMap(({ external }) => external ?? []);
  const measured = scaledBy.flatMap(({ pods, object, external }) => pods ?? object ?? external ?? []);

  it('scales by existing metrics', async () => {
    expectMetrics(
      measured.map(({ metric }) => metric.name),
      await metricNames(),
    );
  });

  it('divides metrics that are equal in every pod by the number of pods, with a rule that reads them once', async () => {
    // As an average of the pods it would not fall with more of them, and the workers would grow to the last.
    const shared = (await createMetrics({ parts: METRICS }).snapshot()).flatMap(({ name, aggregator }) =>
      aggregator === 'max' ? [name] : [],
    );
    expect(shared).toContain('fanfare_fan_out_pending');
    const perPod = scaledBy.flatMap(({ pods }) => pods?.metric.name ?? []);
    expect(perPod.filter((name) => shared.includes(name))).toEqual([]);
    expect(externals.map(({ target }) => target.type)).toEqual(['AverageValue']);
    const { externalRules } = parse(read('prometheus/adapter.yaml')) as {
      readonly externalRules: readonly {
        readonly seriesQuery: string;
        readonly name: { readonly as: string };
        readonly metricsQuery: string;
      }[];
    };
    expect(externalRules.map(({ name }) => name.as)).toEqual(externals.map(({ metric }) => metric.name));
    for (const { seriesQuery, name, metricsQuery } of externalRules) {
      expect(seriesQuery).toMatch(new RegExp(`^${name.as}\\{`));
      expect(metricsQuery).toMatch(/^max\(/);
    }
  });

  it('allows outgoing connections only to the default ports of databases, sentinels, keys and traces', () => {
    const rules = resources.flatMap(({ spec }) => spec?.egress ?? []);
    const portsTo = (part: string) =>
      rules
        .filter(({ to }) => JSON.stringify(to).includes(part))
        .flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(portsTo('kube-dns')).toEqual([53, 53]);
    expect(portsTo('{"cidr":"10.0.0.0/8"}')).toEqual([27_017, 6379, 26_379, 4318, 4317]);
    // The addresses where clouds give credentials to machines are link-local.
    const outside = '{"cidr":"0.0.0.0/0","except":["10.0.0.0/8","100.64.0.0/10","169.254.0.0/16",';
    expect(portsTo(outside)).toEqual([443]);
    for (const { to = [] } of rules) expect(to).not.toEqual([]);
  });

  it('gives processes no rights, and nothing to write to but their data and temporary files', () => {
    for (const { metadata, spec } of deployments) {
      const { securityContext, containers, volumes } = spec?.template?.spec ?? {};
      expect(securityContext, metadata.name).toEqual({
        ...{ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext: own, volumeMounts } of containers ?? []) {
        expect(own).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        });
        expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/data', '/tmp']);
      }
      for (const { name, emptyDir } of volumes ?? []) expect(emptyDir, name).toEqual({});
    }
  });

  it('lets one pod of each deployment go at a time, and limits outgoing connections of all pods', () => {
    const budgets = resources.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata, spec }) => [metadata.name, spec?.maxUnavailable])).toEqual(
      deployments.map(({ metadata }) => [metadata.name, 1]),
    );
    const [egress] = resources.filter(({ spec }) => spec?.egress !== undefined);
    const chosen = Object.entries(egress?.spec?.podSelector?.matchLabels ?? {});
    for (const { spec } of deployments)
      expect(Object.entries(spec?.template?.metadata.labels ?? {})).toEqual(expect.arrayContaining(chosen));
  });

  it('gives processes no cluster token, and uses the image of this release', () => {
    for (const { spec } of deployments) expect(spec?.template?.spec.automountServiceAccountToken).toBe(false);
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly version: string;
    };
    expect(kustomization.images).toEqual([{ name: 'fanfare', newTag: version }]);
  });
});

describe('monitoring', () => {
  const { groups } = parse(read('prometheus/alerts.yaml')) as {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  it('alerts on existing metrics and codes, and says what to do about each', async () => {
    expectMetrics(
      rules.map(({ expr }) => expr),
      await metricNames(),
    );
    const codes = rules.flatMap(({ expr }) => /code=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    expect(codes.filter((code) => !(ERROR_CODES as readonly string[]).includes(code))).toEqual([]);
    const page = readFileSync(new URL('../../docs/late-feeds.md', import.meta.url), 'utf8');
    expect(rules.map(({ alert }) => alert).filter((alert) => !page.includes(alert))).toEqual([]);
  });

  it('shows existing metrics', async () => {
    const { panels } = JSON.parse(read('grafana/fanfare.json')) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expectMetrics(expressions, await metricNames());
    // What warns is shown too.
    const warnsBy = rules.flatMap(({ expr }) => expr.match(/fanfare_\w+/g) ?? []);
    const shown = expressions.join(' ');
    const unseen = warnsBy.filter((name) => name !== 'fanfare_fan_out_pending' && !shown.includes(name));
    expect(unseen).toEqual([]);
  });
});
