import type { ModelInfo, ProviderSettings } from '../provider.ts';
import type { ChatAccess } from './chat-client.ts';

/** The endpoint of a resource, however it was copied: with or without `/openai`, `/openai/v1` or a slash at its end. */
export function azureEndpoint(baseUrl: string): string {
  return baseUrl
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/openai(\/v1)?$/, '');
}

/** `v1` (the default) is the undated interface; a date such as `2024-10-21` is the classic one with deployments in the address. */
export function azureVersion(settings: ProviderSettings): string {
  return settings.api_version?.trim() || 'v1';
}

export function azureAccess(settings: ProviderSettings, model: string | null): ChatAccess {
  const apiKey = settings.api_key ?? '';
  const openai = `${azureEndpoint(settings.base_url ?? '')}/openai`;
  const apiVersion = azureVersion(settings);
  // v1 takes the key as a bearer token, as the SDK sends it; gateways put before a resource look for `api-key`.
  if (apiVersion === 'v1') return { baseURL: `${openai}/v1`, apiKey, headers: { 'api-key': apiKey } };
  return { baseURL: openai, apiKey, classicAzure: { deployment: model, apiVersion } };
}

/** A line of the setting `deployments`: `name`, or `name = model` where the name does not say which model it is. */
function deployments(settings: ProviderSettings): { name: string; model: string }[] {
  const lines = settings['deployments'];
  if (!Array.isArray(lines)) return [];
  return lines
    .filter((line): line is string => typeof line === 'string' && line.trim() !== '')
    .map((line) => line.split('=').map((part) => part.trim()))
    .map(([name = '', model]) => ({ name, model: model || name }));
}

/** The model behind a deployment as far as the settings tell, else the deployment's own name. */
export function azureModel(settings: ProviderSettings, deployment: string): string {
  return deployments(settings).find(({ name }) => name === deployment)?.model ?? deployment;
}

export function azureDeployments(settings: ProviderSettings): ModelInfo[] {
  return deployments(settings).map(({ name, model }) =>
    model === name ? { id: name } : { id: name, label: `${name} (${model})` },
  );
}
