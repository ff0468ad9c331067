import { describe, expect, test } from '@jest/globals';
import { publicOpenApi } from '../../src/routes/http/public-openapi.ts';
import { sampleDescriptions } from '../gateway-harness.ts';

const servers = ['http://{workspace}.localhost:8080'] as const;
const guides = {
  guides: [{ name: 'Errors', description: 'Every error has a code.' }],
  resources: [
    { name: 'Teams', description: 'People who work together.' },
    { name: 'Incidents', description: 'What went wrong.' },
    { name: 'Unused', description: 'No operation has this tag.' },
  ],
};

describe('the public description', () => {
  const description = publicOpenApi(Object.values(sampleDescriptions()), { servers, guides });

  test('has every operation of every service, and does not name the services', () => {
    expect(Object.keys(description.paths)).toEqual(
      expect.arrayContaining(['/api/v1/incidents', '/api/v1/incidents/{id}', '/api/v1/services', '/api/v1/teams']),
    );
    expect(Object.keys(description.paths['/api/v1/incidents'] ?? {})).toEqual(['get', 'post']);
    expect(JSON.stringify(description)).not.toContain('x-tocsin-service');
    expect(description.paths['/api/v1/teams']?.['post']).toMatchObject({
      'x-tocsin-scope': 'teams:write',
      'x-tocsin-prerequisites': ['active_responder', 'manage_teams'],
      deprecated: true,
    });
  });

  test('has the security scheme and the server URL', () => {
    expect(description.components?.securitySchemes).toMatchObject({ token: { type: 'http', scheme: 'bearer' } });
    expect(description.security).toEqual([{ token: [] }]);
    expect(description.servers?.[0]).toMatchObject({ url: servers[0], variables: { workspace: { default: 'acme' } } });
  });

  test('has the tags with their texts, each shared schema once, and the headers of every response', () => {
    expect(description.tags).toEqual([
      { name: 'Errors', description: 'Every error has a code.' },
      { name: 'Teams', description: 'People who work together.' },
      { name: 'Incidents', description: 'What went wrong.' },
      { name: 'Timeline', description: 'Timeline' },
      { name: 'Services', description: 'Services' },
    ]);
    expect(description['x-tagGroups']).toEqual([
      { name: 'Guides', tags: ['Errors'] },
      { name: 'Operations', tags: ['Teams', 'Incidents', 'Timeline', 'Services'] },
    ]);
    expect(Object.keys(description.components?.schemas ?? {})).toEqual(['Echo', 'Error']);
    const created = description.paths['/api/v1/incidents']?.['post']?.responses['201'];
    expect(Object.keys(created?.headers ?? {})).toEqual(
      expect.arrayContaining(['Service-Resource-Version', 'X-Request-ID', 'X-RateLimit-Remaining']),
    );
    const missing = description.paths['/api/v1/teams']?.['post']?.responses['404'];
    expect(missing).toEqual({ $ref: '#/components/responses/NotFoundDeprecated' });
    expect(Object.keys(description.components?.responses?.['NotFoundDeprecated']?.headers ?? {})).toEqual(
      expect.arrayContaining(['Deprecation', 'X-Request-ID', 'X-RateLimit-Remaining']),
    );
    // It is refused before it is counted.
    const tooLarge = Object.keys(description.components?.responses?.['RequestBodyTooLargeDeprecated']?.headers ?? {});
    expect(tooLarge.toSorted()).toEqual(['Connection', 'Deprecation', 'Link', 'Sunset', 'X-Request-ID']);
  });

  test('every reference has its target', () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    const components = description.components as Record<string, Record<string, unknown>>;
    for (const [, kind = '', name = ''] of references) expect(components[kind]).toHaveProperty([name]);
  });

  test('two services must not describe a schema or an operation differently', () => {
    const { incident: first, catalog: second } = sampleDescriptions();
    expect(() => publicOpenApi([first, first], { servers, guides })).toThrow(
      'two services describe get /api/v1/incidents',
    );
    second.components!.schemas!['Echo'] = { type: 'string' };
    expect(() => publicOpenApi([first, second], { servers, guides })).toThrow('two services describe Echo differently');
  });
});
