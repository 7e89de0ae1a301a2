package adapter

// merge lays tables over others as codex does. What lies above stays as it is.
func merge(below, above map[string]any) {
	for key, value := range above {
		tables, ok := value.(map[string]any)
		if !ok {
			below[key] = value
			continue
		}
		if tableOf(below, key) == nil {
			below[key] = map[string]any{}
		}
		merge(tableOf(below, key), tables)
	}
}

func tableOf(of map[string]any, key string) map[string]any {
	found, _ := of[key].(map[string]any)
	return found
}

func textOf(of map[string]any, key string) string {
	found, _ := of[key].(string)
	return found
}
