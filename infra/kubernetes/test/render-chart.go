// Renders the templates of a chart as Helm does: with text/template, and the only function of Helm's that they use.
// The arguments are the templates; standard input has .Values and .Release as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/template"
)

func main() {
	if err := render(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(files []string) error {
	var data map[string]interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&data); err != nil {
		return err
	}
	functions := template.FuncMap{"quote": func(value interface{}) string {
		return fmt.Sprintf("%q", fmt.Sprint(value))
	}}
	templates, err := template.New("").Funcs(functions).Option("missingkey=error").ParseFiles(files...)
	if err != nil {
		return err
	}
	for _, each := range templates.Templates() {
		fmt.Println("---")
		if err := each.Execute(os.Stdout, data); err != nil {
			return err
		}
	}
	return nil
}
