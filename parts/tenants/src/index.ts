import type { AddCommands } from '../../../src/app/command-shapes.ts';
import type { EraseTenantOptions, ExportTenantOptions } from './commands.ts';

/** `fanfare tenant`. */
export const addTenants: AddCommands = (program, context) => {
  const tenant = program
    .command('tenant')
    .description('list, export or erase whole tenants, or adopt a database into one');
  tenant
    .command('list')
    .description('list tenants with stored data, and their numbers of members and actions')
    .action(async () => {
      const { listTenants } = await import('./commands.ts');
      await listTenants(context());
    });
  tenant
    .command('export')
    .description('write everything stored about a tenant, one JSON object per line')
    .argument('<tenant>', 'name of the tenant')
    .requiredOption('--out <file>', 'file to create, gzip if it ends in .gz')
    .action(async (name: string, options: ExportTenantOptions) => {
      const { exportTenant } = await import('./commands.ts');
      await exportTenant(context(), name, options);
    });
  tenant
    .command('erase')
    .description(
      'remove everything stored about a tenant; first make sure that nobody has a valid token of it',
    )
    .argument('<tenant>', 'name of the tenant')
    .option('--yes', 'really')
    .action(async (name: string, options: EraseTenantOptions) => {
      const { eraseTenant } = await import('./commands.ts');
      await eraseTenant(context(), name, options);
    });
  tenant
    .command('adopt')
    .description('assign all data of a database without tenants to one tenant; no server may run meanwhile')
    .argument('<tenant>', 'name of the tenant')
    .action(async (name: string) => {
      const { adoptTenant } = await import('./commands.ts');
      await adoptTenant(context(), name);
    });
};
