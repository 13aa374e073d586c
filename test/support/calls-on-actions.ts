import { type GraphQLSchema, isRequiredArgument } from 'graphql';

/**
 * Mutations of an action that take nothing else of importance, such as marks and states of items, each as a call: whatever the schema
 * has is among them.
 * @param action the global id of the action
 * @param time in the future
 */
export function callsOnActions(
  schema: GraphQLSchema,
  { action, time }: { readonly action: string; readonly time: string },
): Readonly<Record<string, readonly [string]>> {
  const values: Readonly<Record<string, string>> = { 'Boolean!': 'true', 'DateTime!': time };
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  return Object.fromEntries(
    fields.flatMap(({ name, args }) => {
      const given = args
        .filter(isRequiredArgument)
        .map((arg) => [arg.name, arg.name === 'actionId' ? action : values[String(arg.type)]] as const);
      const isOnAction =
        given.some(([arg]) => arg === 'actionId') && given.every(([, value]) => value !== undefined);
      const call = `${name}(${given.map(([arg, value]) => `${arg}: ${value ?? ''}`).join(', ')})`;
      return isOnAction ? [[name, [call]] as const] : [];
    }),
  );
}
