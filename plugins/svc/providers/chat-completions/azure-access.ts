import { trimTrailingSlashes } from '#plugin-api';
import type { ModelInfo, ProviderSettings } from '../provider.ts';
import type { ChatAccess } from './chat-client.ts';

/** The endpoint of a resource without `/openai`, `/openai/v1` and a trailing slash. */
export function azureEndpoint(baseUrl: string): string {
  return trimTrailingSlashes(baseUrl.trim()).replace(/\/openai(\/v1)?$/, '');
}

/** `v1` (the default) is the undated API; a date such as `2024-10-21` is the classic one with deployments in the URL. */
export function azureVersion(settings: ProviderSettings): string {
  return settings.api_version?.trim() || 'v1';
}

export function azureAccess(settings: ProviderSettings, model: string | null): ChatAccess {
  const apiKey = settings.api_key ?? '';
  const openai = `${azureEndpoint(settings.base_url ?? '')}/openai`;
  const apiVersion = azureVersion(settings);
  // v1 accepts the bearer token that the SDK sends; gateways in front of a resource expect `api-key`.
  if (apiVersion === 'v1') return { baseURL: `${openai}/v1`, apiKey, headers: { 'api-key': apiKey } };
  return { baseURL: openai, apiKey, classicAzure: { deployment: model, apiVersion } };
}

/** Lines of the setting `deployments`: `name`, or `name = model` if the name differs from the model. */
function deployments(settings: ProviderSettings): { name: string; model: string }[] {
  const lines = settings['deployments'];
  if (!Array.isArray(lines)) return [];
  return lines
    .filter((line): line is string => typeof line === 'string' && line.trim() !== '')
    .map((line) => line.split('=').map((part) => part.trim()))
    .map(([name = '', model]) => ({ name, model: model || name }));
}

/** The model of a deployment by the settings, else the name of the deployment. */
export function azureModel(settings: ProviderSettings, deployment: string): string {
  return deployments(settings).find(({ name }) => name === deployment)?.model ?? deployment;
}

export function azureDeployments(settings: ProviderSettings): ModelInfo[] {
  return deployments(settings).map(({ name, model }) =>
    model === name ? { id: name } : { id: name, label: `${name} (${model})` },
  );
}
